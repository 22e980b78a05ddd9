// The states of one reply, corrected by an encrypted adapter under keys for this reply alone.
import { AdapterHostRefused, AdapterHostUnstable } from './errors.js';

/** @typedef {import('./session.js').HostSession} HostSession */
/**
 * What a reply needs of its adapter: a session with new keys; to have the next reply's keys made; to have the host told
 * that a session is not needed any more.
 * @typedef {{open: (signal?: AbortSignal) => Promise<HostSession>, prepareNext: () => void,
 *   end: (session: HostSession) => void}} Adapter
 */

// The host was restarted, dropped the session, or counts otherwise: a new one repairs it.
const SESSION_LOST = new Set(['unknown_session', 'key_missing', 'key_conflict', 'query_conflict']);
export const MAX_REKEYS = 3;
/**
 * Where an adapted state saturates. Whether a reply stops must not depend on a product, which a dishonest host chooses;
 * from here float32 logits do not overflow under any ordinary LM head.
 */
export const MAX_STATE = 2 ** 30;

export class AdaptedReply {
  /** @param {Adapter} adapter @param {Float64Array} scaledB scale * B [H, r] @param {HostSession | null} session */
  constructor(adapter, scaledB, session) {
    this._adapter = adapter;
    this._scaledB = scaledB;
    this._session = session;
    this._states = 0;
  }

  /**
   * Agrees on keys, unless that is done.
   * @param {AbortSignal} [signal] @returns {Promise<void>} rejects with the errors of this room
   */
  async prepare(signal) {
    await this._withSession(async () => {}, signal);
  }

  /**
   * The hidden state with the adapter applied, in float64 up to the last rounding; never a state without it.
   * @param {Float32Array} hidden [H] @param {AbortSignal} [signal]
   * @returns {Promise<Float32Array>} rejects with the errors of this room, and Cancelled
   */
  async correct(hidden, signal) {
    // Not before: the first token, head and sampler included, waits for nothing else.
    if (this._states === 1) this._adapter.prepareNext();
    const product = await this._withSession((session) => session.product(hidden, signal), signal);
    this._states += 1;
    return corrected(hidden, this._scaledB, product);
  }

  /** Forgets the keys; safe to call twice. A later state has new ones. */
  end() {
    const session = this._session;
    this._session = null;
    if (session === null) return;
    session.forget();
    this._adapter.end(session);
  }

  /**
   * @template T
   * @param {(session: HostSession) => Promise<T>} work @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async _withSession(work, signal) {
    for (let attempt = 0; attempt <= MAX_REKEYS; attempt++) {
      try {
        this._session ??= await this._adapter.open(signal);
        return await work(this._session);
      } catch (error) {
        // Whether the host took the query may be unknown; its number must not be used again.
        this._session?.forget();
        this._session = null;
        if (!(error instanceof AdapterHostRefused && SESSION_LOST.has(error.refusal))) throw error;
      }
    }
    throw new AdapterHostUnstable();
  }
}

/**
 * hidden + scaledB product, saturated.
 * @param {Float32Array} hidden @param {Float64Array} scaledB @param {Float64Array} product
 */
export function corrected(hidden, scaledB, product) {
  const rank = product.length;
  return hidden.map((value, row) => {
    let sum = 0;
    for (let i = 0, at = row * rank; i < rank; i++, at++) sum += scaledB[at] * product[i];
    return Math.min(MAX_STATE, Math.max(-MAX_STATE, value + sum));
  });
}
