import { CacheLost } from '../../src/session/errors.js';

/**
 * The model of tests/vectors/decoding.json behind a session: its state after some tokens is the sum of the last
 * rows, each times its part. Every attempt to send it rows is recorded as [start, count].
 */
export class ScriptedBackend {
  /**
   * @param {{max_rows: number, max_context: number, lost: number[]}} session
   * @param {{memory: number[], bytes: string[]}} model
   */
  constructor(session, model) {
    this.maxRows = session.max_rows;
    this.maxContext = session.max_context;
    this._lost = session.lost;
    this._memory = model.memory;
    this._size = model.bytes.length;
    /** @type {Float32Array[]} */
    this._held = [];
    /** @type {[number, number][]} */
    this.attempts = [];
    /** Called after a step with how many positions are held. @type {(positions: number) => void} */
    this.onStep = () => {};
  }

  async open() {}

  async close() {}

  /** @param {number} start @param {Float32Array} embeddings */
  async step(start, embeddings) {
    const count = embeddings.length / this._size;
    if (!(count > 0 && count <= this.maxRows && start <= this._held.length)) throw new Error('no such step');
    this.attempts.push([start, count]);
    if (this._lost.includes(this.attempts.length - 1)) {
      this._held = [];
      throw new CacheLost();
    }
    const rows = Array.from({ length: count }, (_, i) => embeddings.slice(i * this._size, (i + 1) * this._size));
    this._held = [...this._held.slice(0, start), ...rows];
    this.onStep(this._held.length);
    return { hidden: this._state(), computeUs: 0, queueUs: 0, exchangeUs: 0 };
  }

  _state() {
    const hidden = new Float32Array(this._size);
    this._memory.forEach((part, ago) => {
      const row = this._held.at(-1 - ago);
      row?.forEach((value, i) => (hidden[i] += part * value));
    });
    return hidden;
  }
}
