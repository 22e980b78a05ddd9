// A host without arithmetic: it answers in the right form, and where a test says so otherwise.
import { writeMsgpack } from '../../src/protocol/msgpack_write.js';
import { placesOf } from '../../src/crypto/layout.js';

export const HOST = 'http://host:8097';
export const HIDDEN = 64;
export const RANK = 4;
export const SCALE = 0.5;
const ENTRY = { name: 'made', description: 'made', rank: RANK, hidden_size: HIDDEN, scale: SCALE, keywords: ['word'], encrypted: true };

/** What is asked. @typedef {{path: string, body: Uint8Array, headers: Record<string, string>, signal: AbortSignal}} Asked */
/**
 * An answer in place of the honest one; null: that; an error: the connection breaks; never: none comes.
 * @typedef {(asked: Asked, count: number) => Response | Error | 'never' | null} Otherwise count: how often the path was asked
 */

export class PretendedHost {
  /** @param {Otherwise} [otherwise] @param {any[]} [entries] of its list */
  constructor(otherwise = () => null, entries = [ENTRY, { ...ENTRY, name: 'second' }, { ...ENTRY, name: 'wide', hidden_size: 96 }]) {
    this._otherwise = otherwise;
    this._entries = entries;
    this._sessions = 0;
    /** @type {Asked[]} */
    this.asked = [];
    this.now = 0;
    /** @type {number[]} */
    this.waits = [];
    /** Waits that a test may end. @type {{seconds: number, end: () => void}[]} */
    this.late = [];
  }

  /** @returns {import('../../src/crypto/link.js').Means} */
  get means() {
    return {
      fetch: /** @type {any} */ ((/** @type {string} */ url, /** @type {any} */ options) => this._fetched(url, options)),
      clock: () => this.now,
      chance: () => 1,
      pause: async (seconds) => {
        this.waits.push(seconds);
        this.now += seconds;
      },
      after: (seconds, run) => {
        const waiting = {
          seconds,
          end: () => {
            this.now += seconds;
            run();
          },
        };
        this.late.push(waiting);
        return () => void (this.late = this.late.filter((other) => other !== waiting));
      },
    };
  }

  /** @param {string} path @returns {Asked[]} */
  of(path) {
    return this.asked.filter((asked) => asked.path.endsWith(path));
  }

  /** @param {string} url @param {any} options */
  async _fetched(url, { body = new Uint8Array(), headers, signal, ...rest }) {
    if (rest.redirect !== 'error' || rest.credentials !== 'omit') throw new Error('a request that tells too much');
    const path = url.slice(`${HOST}/api/v1/adapters`.length);
    const asked = { path, body, headers, signal };
    this.asked.push(asked);
    const answer = this._otherwise(asked, this.of(path).length);
    if (answer === 'never') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    if (answer instanceof Error) throw answer;
    return answer ?? this._honest(path);
  }

  /** @param {string} path */
  _honest(path) {
    if (path === '') return json({ adapters: this._entries });
    switch (path.split('/')[2]) {
      case 'b':
        return octets(new Uint8Array(new Float32Array(HIDDEN * RANK).fill(1).buffer));
      case 'session':
        return octets(opened({ id: (this._sessions += 1) }));
      case 'evaluate':
        return octets(replyOf());
      default:
        return new Response(null, { status: 204 });
    }
  }
}

/** @param {unknown} value @param {number} [status] @param {Record<string, string>} [headers] */
export const json = (value, status = 200, headers = {}) => new Response(JSON.stringify(value), { status, headers });

/** @param {Uint8Array} bytes */
export const octets = (bytes) => new Response(/** @type {Uint8Array<ArrayBuffer>} */ (bytes));

/** @param {string} code @param {number} status @param {boolean} [retryable] @param {Record<string, string>} [headers] */
export const refusal = (code, status, retryable = false, headers = {}) =>
  json({ error: { code, message: `says ${code}`, retryable } }, status, headers);

/** The answer that begins a session. @param {{id?: number, fields?: Record<string, any>, packing?: Record<string, any>}} [about] */
export function opened({ id = 1, fields = {}, packing = {} } = {}) {
  const shape = { hidden: HIDDEN, rank: RANK, ...placesOf(HIDDEN, RANK) };
  const scales = { input_scale: real(2 ** 30), weight_scale: real(2 ** 18), norm_bound: real(512) };
  const document = { ...shape, ...scales, ...packing };
  const all = { session: new Uint8Array(16).fill(id), host_nonce: new Uint8Array(32).fill(id), packing: document, queries_left: null };
  return written({ ...all, ...fields });
}

/** A number that travels as a fraction. @param {number} value */
export function real(value) {
  const view = new DataView(new ArrayBuffer(9));
  view.setUint8(0, 0xcb);
  view.setFloat64(1, value);
  return { raw: new Uint8Array(view.buffer) };
}

/** @param {any} value @returns {Uint8Array} */
function written(value) {
  if (value?.raw) return value.raw;
  const isMap = value && typeof value === 'object' && !(value instanceof Uint8Array) && !Array.isArray(value);
  if (!isMap) return writeMsgpack(value);
  const entries = Object.entries(value).flatMap(([name, item]) => [...writeMsgpack(name), ...written(item)]);
  return Uint8Array.from([0x80 | Object.keys(value).length, ...entries]);
}

/** A reply whose residues are all the same. @param {number} [byte] of it, below 255 */
export function replyOf(byte = 0) {
  const { groups } = placesOf(HIDDEN, RANK);
  const reply = new Uint8Array(8 + 2 * groups * 13_824).fill(byte);
  reply.set([0x47, 0x4c, 0x48, 0x45, 1, 3, 2 * groups, 0]);
  return reply;
}
