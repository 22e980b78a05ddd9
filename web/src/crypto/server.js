// What the worker of encrypted adapters answers. Secret keys are in here and nowhere else.
import { describeError } from '../common/errors.js';
import { DeviceKeys } from './device.js';
import { EncryptionUnavailable } from './errors.js';
import { SEED_BYTES } from './params.js';

/** @typedef {import('./layout.js').Packing} Packing */
/**
 * What may be asked. `key`: the number of a set of keys.
 * @typedef {{id: number, type: 'generate', hostNonce: Uint8Array}
 *   | {id: number, type: 'encrypt', key: number, hidden: Float32Array, packing: Packing}
 *   | {id: number, type: 'decrypt', key: number, reply: Uint8Array, packing: Packing}
 *   | {id: number, type: 'forget', key: number}} Question
 */
/** @typedef {{id: number, result: any} | {id: number, error: import('../engine/messages.js').Failure['error']}} Answer */
/** @typedef {{key: number, nonce: Uint8Array<ArrayBuffer>, public: Uint8Array<ArrayBuffer>}} Generated */

export class KeyServer {
  /**
   * @param {() => Promise<import('./ring.js').Ring>} openRing
   * @param {import('./entropy.js').Entropy} entropy
   * @param {(answer: Answer, transfer: Transferable[]) => void} post
   */
  constructor(openRing, entropy, post) {
    this._openRing = openRing;
    this._entropy = entropy;
    this._post = post;
    /** @type {Promise<import('./ring.js').Ring> | null} */
    this._ring = null;
    /** @type {Map<number, DeviceKeys>} */
    this._keys = new Map();
    this._next = 1;
    // One question after the other: all of them work in one memory.
    this._turn = Promise.resolve();
  }

  /** @param {Question} question @returns {Promise<void>} when it is answered */
  receive(question) {
    this._turn = this._turn.then(() => this._answer(question));
    return this._turn;
  }

  /** @param {Question} question */
  async _answer(question) {
    const { id } = question;
    try {
      const result = await this._result(question);
      this._post({ id, result }, buffersOf(result));
    } catch (error) {
      this._post({ id, error: describeError(error) }, []);
    }
  }

  /** @param {Question} question */
  async _result(question) {
    switch (question.type) {
      case 'generate':
        return this._generated(question.hostNonce);
      case 'encrypt':
        return this._of(question.key).encrypt(question.hidden, question.packing, this._entropy);
      case 'decrypt':
        return this._of(question.key).decrypt(question.reply, question.packing);
      case 'forget':
        this._keys.get(question.key)?.forget();
        this._keys.delete(question.key);
        return null;
    }
  }

  /** @param {Uint8Array} hostNonce @returns {Promise<Generated>} */
  async _generated(hostNonce) {
    this._ring ??= this._openRing();
    const ring = await this._ring.catch((error) => {
      this._ring = null;
      throw error;
    });
    const nonce = this._entropy(SEED_BYTES);
    const keys = DeviceKeys.generate(ring, hostNonce, nonce, this._entropy);
    const key = this._next++;
    this._keys.set(key, keys);
    return { key, nonce, public: keys.public };
  }

  /** @param {number} key */
  _of(key) {
    const keys = this._keys.get(key);
    if (!keys) throw new EncryptionUnavailable('these keys are forgotten');
    return keys;
  }
}

/** @param {any} result @returns {Transferable[]} */
function buffersOf(result) {
  return ArrayBuffer.isView(result) ? [/** @type {ArrayBuffer} */ (result.buffer)] : [];
}
