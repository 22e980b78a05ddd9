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

  /** @param {number} start @param {Float32Array} embeddings @param {{rows?: number}} [options] states that come back */
  async step(start, embeddings, { rows: wanted = 1 } = {}) {
    const count = embeddings.length / this._size;
    if (!(count > 0 && count <= this.maxRows && start <= this._held.length && wanted <= count)) throw new Error('no such step');
    this.attempts.push([start, count]);
    if (this._lost.includes(this.attempts.length - 1)) {
      this._held = [];
      throw new CacheLost();
    }
    const rows = Array.from({ length: count }, (_, i) => embeddings.slice(i * this._size, (i + 1) * this._size));
    this._held = [...this._held.slice(0, start), ...rows];
    this.onStep(this._held.length);
    const hidden = new Float32Array(wanted * this._size);
    for (let i = 0; i < wanted; i++) hidden.set(this._state(this._held.length - wanted + i + 1), i * this._size);
    return { hidden, computeUs: 0, queueUs: 0, exchangeUs: 0 };
  }

  /** @param {number} end behind the row that it comes after */
  _state(end) {
    const hidden = new Float32Array(this._size);
    this._memory.forEach((part, ago) => {
      const row = this._held[end - 1 - ago];
      row?.forEach((value, i) => (hidden[i] += part * value));
    });
    return hidden;
  }
}
