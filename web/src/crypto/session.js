// A session with an adapter host, for one reply: keys made for it alone, and numbered queries.
import { AppError } from '../common/errors.js';
import { readMsgpack } from '../protocol/msgpack.js';
import { AdapterHostInvalid } from './errors.js';
import { isSamePacking, parsePacking } from './layout.js';
import { SEED_BYTES } from './params.js';
import { replyBytes } from './wire.js';

/** @typedef {import('./layout.js').Packing} Packing */
/** @typedef {import('./link.js').HostLink} HostLink */
/** @typedef {import('./keyring.js').Keys} Keys */
/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

const SESSION_BYTES = 16;
const OPENED_BYTES = 4096;
const NUMBER_BYTES = 8;

export class HostSession {
  /** @param {HostLink} link @param {string} adapter @param {Uint8Array} id @param {Packing} packing @param {Keys} keys */
  constructor(link, adapter, id, packing, keys) {
    this._link = link;
    this._adapter = adapter;
    this._id = id;
    this.packing = packing;
    this._keys = keys;
    this._number = 0n;
  }

  /**
   * Agrees on nonces, has keys made, sends the public one.
   * @param {HostLink} link @param {import('./keyring.js').Keyring} keyring @param {AdapterInfo} adapter
   * @param {{agreed?: Packing | null, signal?: AbortSignal}} [options] agreed: the only packing to accept
   * @returns {Promise<HostSession>}
   * @throws {AdapterHostInvalid | AppError} the latter: what asking and the keyring throw
   */
  static async open(link, keyring, adapter, { agreed = null, signal } = {}) {
    const answer = await link.ask('POST', `/${adapter.name}/session`, OPENED_BYTES, { signal });
    const { id, hostNonce, packing } = openedIn(answer, adapter);
    if (agreed !== null && !isSamePacking(agreed, packing)) {
      throw new AdapterHostInvalid(
        'it states another packing for this adapter than before; if its operator changed the adapter or ' +
          '--activation-rms, load this page again',
      );
    }
    const keys = await keyring.generate(hostNonce);
    try {
      await link.ask('POST', `/${adapter.name}/key`, 0, { body: joined(id, keys.nonce, keys.public), signal });
      return new HostSession(link, adapter.name, id, packing, keys);
    } catch (error) {
      keys.forget();
      throw error;
    }
  }

  /**
   * A h [r] of a hidden state h [H], which the host does not see.
   * @param {Float32Array} hidden @param {AbortSignal} [signal]
   * @returns {Promise<Float64Array>}
   * @throws {AppError} adapter_out_of_range, adapter_host_invalid, encryption_unavailable, and what asking throws
   */
  async product(hidden, signal) {
    const query = await this._keys.encrypt(hidden, this.packing);
    this._number += 1n;
    const number = new Uint8Array(NUMBER_BYTES);
    new DataView(number.buffer).setBigUint64(0, this._number, true);
    const body = joined(this._id, number, query);
    const reply = await this._link.ask('POST', `/${this._adapter}/evaluate`, replyBytes(this.packing), { body, signal });
    return this._keys.decrypt(reply, this.packing);
  }

  /** Has the keys overwritten. */
  forget() {
    this._keys.forget();
  }

  /** What tells the host that nothing more comes; it holds no keys. @returns {(signal: AbortSignal) => Promise<void>} */
  ending() {
    const { _link: link, _adapter: adapter, _id: body } = this;
    return async (signal) => void (await link.ask('POST', `/${adapter}/end`, 0, { body: joined(body), signal }));
  }
}

/** @param {Uint8Array} answer @param {AdapterInfo} adapter */
function openedIn(answer, { hiddenSize: hidden, rank }) {
  const fields = unpacked(answer);
  if (!(fields instanceof Map)) throw new AdapterHostInvalid('it is not the beginning of a session');
  const [id, hostNonce] = [fields.get('session'), fields.get('host_nonce')];
  const fits = isBytes(id, SESSION_BYTES) && isBytes(hostNonce, SEED_BYTES);
  if (!fits) throw new AdapterHostInvalid('it is not the beginning of a session');
  return { id, hostNonce, packing: parsePacking(fields.get('packing'), { hidden, rank }) };
}

/** @param {Uint8Array} answer */
function unpacked(answer) {
  try {
    return readMsgpack(answer);
  } catch (error) {
    throw error instanceof AppError ? new AdapterHostInvalid('it is not msgpack', error) : error;
  }
}

/** @param {unknown} value @param {number} size */
function isBytes(value, size) {
  return value instanceof Uint8Array && value.length === size;
}

/** @param {Uint8Array[]} parts */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
