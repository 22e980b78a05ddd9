// The rows of one chat, with noise, each recorded before it can leave.
import { NoiseDtypeChanged, NoiseOverflows } from './errors.js';
import { RowStreams, histories } from './mechanism/prf.js';

/** @typedef {import('../../types/gatelink').DType} DType */
/** @typedef {import('./mechanism/prf.js').RowName} RowName */

const LAYER = 'embedding';
// What a wire's dtype holds; float32, bfloat16 and int8 with its scale reach a little further than this.
const LARGEST = { f16: 65504, f32: 3.3e38, bf16: 3.3e38, i8: 3.3e38 };
// Sigmas that no draw of any conversation exceeds.
const FARTHEST = 40;

export class NoisedConversation {
  /**
   * @param {{mechanism: import('./mechanism/mechanism.js').RowMechanism,
   *   clean: (ids: number[]) => Promise<Float32Array>, model: string,
   *   account: import('./ledger/account.js').Account, kept: import('./kept_chat.js').KeptChat}} about
   */
  constructor({ mechanism, clean, model, account, kept }) {
    this._mechanism = mechanism;
    this._clean = clean;
    this._model = model;
    this._account = account;
    this._kept = kept;
    /** @type {Map<DType, RowStreams>} */
    this._streams = new Map();
    /** @type {number[]} */
    this._tokens = [];
    /** @type {Uint8Array[]} */
    this._histories = [];
    // Whether tokens may have been moved since rows were last released: each such time the same token may
    // be released once more.
    this._moved = true;
  }

  /** What its rows travel in; null before the first. @returns {DType | null} */
  get dtype() {
    return this._kept.dtype;
  }

  /** What it has cost so far, without rows that are recorded and not sent. */
  get spent() {
    return this._kept.spent.plus(this._account.kind, { rows: -this._account.ahead });
  }

  /** No longer where the chat's key was deleted meanwhile. @param {NoisedConversation} other of the chat */
  sharesKey(other) {
    return this._kept.key.every((byte, i) => byte === other._kept.key[i]);
  }

  /** Rows that are recorded and not sent yet. */
  get ahead() {
    return this._account.ahead;
  }

  /**
   * Noised rows of `tokens`, to travel as `dtype`. All of `tokens` from `start` on is recorded first; where
   * this throws, no row of them was released.
   * @param {number[]} tokens @param {number} start @param {number} stop @param {DType} dtype
   * @returns {Promise<Float32Array>} [(stop - start) * width]
   * @throws {import('./errors.js').BudgetExhausted | NoiseOverflows | NoiseDtypeChanged
   *   | import('../common/errors.js').AppError} the latter: the ledger's errors
   */
  async rows(tokens, start, stop, dtype) {
    if (this.dtype !== null && this.dtype !== dtype) throw new NoiseDtypeChanged(this.dtype, dtype);
    const { clip, sigma } = this._mechanism;
    if (clip + FARTHEST * sigma > LARGEST[dtype]) throw new NoiseOverflows(sigma, dtype);
    this._follow(tokens);
    const streams = this._streamsOf(dtype);
    await this._settle(streams, this._rowNames(tokens, start, tokens.length), dtype);
    const clean = await this._clean(tokens.slice(start, stop));
    return this._mechanism.release(clean, this._rowNames(tokens, start, stop), streams);
  }

  /** Gives back what was recorded and not sent: a reply has ended. Throws the ledger's errors. */
  async close() {
    const { kind } = this._account;
    const written = await this._account.close((stores, count) =>
      this._kept.record(stores, { dtype: null, kind, count, names: [] }),
    );
    if (written) this._kept.written();
    else await this._kept.flush(kind);
  }

  /** @param {DType} dtype */
  _streamsOf(dtype) {
    let streams = this._streams.get(dtype);
    if (streams === undefined) {
      const { sigma, clip } = this._mechanism;
      const about = { layer: LAYER, sigma, clip, model: this._model, codec: dtype };
      streams = new RowStreams({ key: this._kept.key, ...about });
      this._streams.set(dtype, streams);
    }
    return streams;
  }

  /** Histories of `tokens`; of what goes on from before only the new part. @param {number[]} tokens */
  _follow(tokens) {
    const known = this._tokens.length;
    const shared = commonPrefix(this._tokens, tokens);
    if (shared === tokens.length) return;
    if (shared < known) {
      this._moved = true;
      this._histories = histories(tokens);
    } else if (known) {
      this._histories.push(...histories(tokens.slice(known - 1), this._histories[known - 1]).slice(1));
    } else {
      this._histories = histories(tokens);
    }
    this._tokens = [...tokens];
  }

  /** @param {number[]} tokens @param {number} start @param {number} stop @returns {RowName[]} */
  _rowNames(tokens, start, stop) {
    return tokens.slice(start, stop).map((token, i) => ({
      position: start + i,
      token,
      history: this._histories[start + i],
    }));
  }

  /**
   * Records rows that were not released before.
   * @param {RowStreams} streams @param {RowName[]} rows @param {DType} dtype
   */
  async _settle(streams, rows, dtype) {
    const names = rows.map((row) => streams.name(row)).filter((name) => !this._kept.has(name));
    if (!names.length) return;
    const { kind } = this._account;
    const wanted = { rows: names.length, sendings: this._moved ? 1 : 0 };
    const written = await this._account.spend(wanted, (stores, count) =>
      this._kept.record(stores, { dtype, kind, count, names }),
    );
    this._kept.add(names, written);
    this._moved = false;
  }
}

/** @param {number[]} left @param {number[]} right */
function commonPrefix(left, right) {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return i;
  return length;
}
