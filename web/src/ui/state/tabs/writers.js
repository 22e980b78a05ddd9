// The chats whose replies are being written, over all tabs of this browser.
import { AskedWriters } from './asked_writers.js';

const NAME = 'gatelink-reply';

/**
 * @typedef {object} Writers
 * @property {(chat: string) => () => void} begin this tab writes the chat's reply, until what is returned is
 *   called
 * @property {(chat: string, onWriting: (writing: boolean) => void) => () => void} watch tells whether another
 *   tab writes the chat's reply, and when it ends, however it does; until what is returned is called
 */

/** @returns {Writers} by Web Locks; where a browser withholds them (http:// on a LAN), tabs ask each other */
export function writersHere() {
  const locks = globalThis.navigator?.locks;
  if (locks) return new LockedWriters(locks);
  return typeof BroadcastChannel === 'function' ? new AskedWriters(new BroadcastChannel(NAME)) : ALONE;
}

/** For a page that knows of no other tabs. @type {Writers} */
export const ALONE = { begin: () => () => {}, watch: () => () => {} };

/**
 * A tab that writes holds a lock (https://w3c.github.io/web-locks/), which goes when the tab does.
 * @implements {Writers}
 */
export class LockedWriters {
  /** @param {Pick<LockManager, 'request'>} locks */
  constructor(locks) {
    this._locks = locks;
    /** @type {Map<string, Promise<unknown>>} ends of what this tab writes */
    this._own = new Map();
  }

  /** @param {string} chat */
  begin(chat) {
    /** @type {() => void} */
    let end = () => {};
    const over = new Promise((resolve) => (end = () => resolve(undefined)));
    // One that another tab kept this one waiting for is not waited for any longer than the reply takes.
    const left = new AbortController();
    void over.then(() => left.abort());
    const held = this._request(chat, { signal: left.signal }, () => over).then(() => {
      if (this._own.get(chat) === held) this._own.delete(chat);
    });
    this._own.set(chat, held);
    return end;
  }

  /** @param {string} chat @param {(writing: boolean) => void} onWriting */
  watch(chat, onWriting) {
    const stop = new AbortController();
    void this._follow(chat, onWriting, stop.signal);
    return () => stop.abort();
  }

  /** @param {string} chat @param {(writing: boolean) => void} onWriting @param {AbortSignal} signal */
  async _follow(chat, onWriting, signal) {
    await this._own.get(chat);
    const look = /** @type {const} */ ({ mode: 'shared', ifAvailable: true });
    const taken = await this._request(chat, look, async (lock) => lock === null);
    if (signal.aborted) return;
    onWriting(taken === true);
    if (taken !== true) return;
    await this._request(chat, { mode: 'shared', signal }, async () => {});
    if (!signal.aborted) onWriting(false);
  }

  /**
   * @template T
   * @param {string} chat @param {LockOptions} options @param {(lock: Lock | null) => Promise<T>} held
   * @returns {Promise<T | null>} null: the browser gives no locks to this page, or `options.signal` was aborted
   */
  async _request(chat, options, held) {
    try {
      return await this._locks.request(`${NAME}/${chat}`, options, held);
    } catch {
      return null;
    }
  }
}
