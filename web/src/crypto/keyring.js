import { AppError } from '../common/errors.js';
import { AdapterHostInvalid, EncryptionUnavailable } from './errors.js';

/** @typedef {import('./layout.js').Packing} Packing */
/** @typedef {Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>} KeyWorker */
/** @typedef {{resolve: (result: any) => void, reject: (error: AppError) => void}} Waiting */

const MOST_WAITING = 64;

/** @returns {KeyWorker} */
function spawnWorker() {
  return new Worker(new URL('./crypto.js', import.meta.url), { type: 'module', name: 'crypto' });
}

/** The worker that holds the keys, as those see it who have them made; started when keys are first asked for. */
export class Keyring {
  /** @param {() => KeyWorker} [spawn] */
  constructor(spawn = spawnWorker) {
    this._spawn = spawn;
    /** @type {KeyWorker | null} */
    this._worker = null;
    /** @type {Map<number, Waiting>} */
    this._waiting = new Map();
    this._next = 1;
  }

  /** @param {Uint8Array} hostNonce @returns {Promise<Keys>} rejects with EncryptionUnavailable */
  async generate(hostNonce) {
    this._worker ??= this._start();
    const worker = this._worker;
    const made = await this._ask({ type: 'generate', hostNonce });
    // Another worker knows nothing of these keys.
    return new Keys(made, (question) => (this._worker === worker ? this._ask(question) : Promise.reject(gone())));
  }

  /** Ends the worker, and all keys with it. */
  close() {
    this._end();
  }

  /** @param {any} question @returns {Promise<any>} */
  _ask(question) {
    if (this._waiting.size >= MOST_WAITING) return Promise.reject(new EncryptionUnavailable('too much waits already'));
    const id = this._next++;
    return new Promise((resolve, reject) => {
      this._waiting.set(id, { resolve, reject });
      this._worker?.postMessage({ ...question, id });
    });
  }

  _start() {
    const worker = this._spawn();
    worker.onerror = () => this._worker === worker && this._end();
    worker.onmessage = ({ data }) => this._worker === worker && this._receive(data);
    return worker;
  }

  /** @param {import('./server.js').Answer} answer */
  _receive(answer) {
    const waiting = this._waiting.get(answer.id);
    this._waiting.delete(answer.id);
    if ('result' in answer) return waiting?.resolve(answer.result);
    const { code, message } = answer.error;
    return waiting?.reject(new AppError(code, message));
  }

  _end() {
    this._worker?.terminate();
    this._worker = null;
    const waiting = [...this._waiting.values()];
    this._waiting.clear();
    for (const { reject } of waiting) reject(gone());
  }
}

/** One set of keys in the worker. */
export class Keys {
  /** @param {import('./server.js').Generated} made @param {(question: any) => Promise<any>} ask */
  constructor({ key, nonce, public: publicKey }, ask) {
    this._key = key;
    this._ask = ask;
    this.nonce = nonce;
    this.public = publicKey;
  }

  /**
   * @param {Float32Array} hidden @param {Packing} packing
   * @returns {Promise<Uint8Array<ArrayBuffer>>} rejects with adapter_out_of_range, encryption_unavailable
   */
  encrypt(hidden, packing) {
    return this._ask({ type: 'encrypt', key: this._key, hidden, packing });
  }

  /**
   * @param {Uint8Array} reply @param {Packing} packing
   * @returns {Promise<Float64Array>} rejects with AdapterHostInvalid, encryption_unavailable
   */
  async decrypt(reply, packing) {
    try {
      return await this._ask({ type: 'decrypt', key: this._key, reply, packing });
    } catch (error) {
      const malformed = error instanceof AppError && error.code === 'malformed_ciphertext';
      throw malformed ? new AdapterHostInvalid(error.message) : error;
    }
  }

  /** Has them overwritten. */
  forget() {
    void this._ask({ type: 'forget', key: this._key }).catch(() => {});
  }
}

function gone() {
  return new EncryptionUnavailable('the part that encrypts stopped, perhaps for want of memory');
}
