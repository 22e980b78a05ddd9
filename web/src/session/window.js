// How many steps of one prefill are under way: so many that the server has the next one when it ends the last.
import { MOST_UNDER_WAY } from '../protocol/steps/under_way.js';

const USUAL = 2;

export class Window {
  constructor() {
    this._away = Infinity;
    this._pass = 0;
  }

  /**
   * What a step told that had nothing in front of it.
   * @param {number} rows @param {{computeUs: number, queueUs: number, exchangeUs: number}} output
   */
  told(rows, { computeUs, queueUs, exchangeUs }) {
    // Long frames are on their way for longer than the round trip.
    this._away = Math.min(this._away, Math.max(0, exchangeUs - computeUs - queueUs));
    if (rows > 1) this._pass = computeUs / rows;
  }

  /**
   * Steps of `rows` rows that are worth having under way: while one is computed, the answer to the one before and the
   * frame behind it travel.
   * @param {number} rows
   */
  size(rows) {
    const pass = this._pass * rows;
    if (!pass || !Number.isFinite(this._away)) return USUAL;
    return Math.min(MOST_UNDER_WAY, Math.max(USUAL, 1 + Math.ceil(this._away / pass)));
  }
}
