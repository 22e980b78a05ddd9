// Brightness of a chat's messages, as the tokens of one reply change it.
import { BORN, look } from '../../chats/brightness/formula.js';
import { rowOf } from '../../chats/brightness/rows.js';

/** @typedef {import('../messages.js').Span} Span */

/** What is before the turn that is answered grows bright and dim; the turn itself is immune. */
export class Gathering {
  /**
   * @param {Span[]} spans of the prompt
   * @param {Uint16Array[]} units of each message, the brightness of each UTF-16 unit
   */
  constructor(spans, units) {
    const turn = units.length - 1;
    this._units = units;
    const immune = spans.find(({ message }) => message === turn)?.start ?? 0;
    this._spans = spans.filter(({ message, start }) => message !== undefined && message < turn && start < immune);
    this._brightness = new Int32Array(immune).fill(BORN);
    for (const { message, at, text, start, stop } of this._spans) {
      const own = units[message ?? 0].subarray(at, (at ?? 0) + text.length);
      this._brightness.fill(own.length ? Math.max(...own) : BORN, start, stop);
    }
  }

  /** A token was chosen. @param {import('./rows.js').Row} row */
  look({ width, weights, places }) {
    look(this._brightness, rowOf('mean', { layers: 1, heads: 1, weights, positions: places }, width));
  }

  /** Of each message before the turn: the brightness of each UTF-16 unit. @returns {(Uint16Array | null)[]} null: of the turn */
  told() {
    const units = this._units.map((own, i) => (i < this._units.length - 1 ? own.slice() : null));
    for (const { message, at, text, start, stop } of this._spans) {
      const brightest = Math.max(...this._brightness.subarray(start, stop));
      units[message ?? 0]?.fill(brightest, at, (at ?? 0) + text.length);
    }
    return units;
  }
}
