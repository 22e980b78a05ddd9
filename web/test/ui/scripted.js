// An engine whose answers a test gives, and chats in memory.
import { MemoryRecords } from '../../src/chats/records.js';
import { ChatStore } from '../../src/chats/store.js';

export const SERVER = {
  manifest: { digest: 'd', name: 'tiny', family: 'llama', licence: null, maxContext: 256, generation: {},
    size: 100, hasTemplate: true, layers: 4 },
  comes: 100,
  stored: true,
  doneBytes: 100,
  storage: 'opfs',
  freeBytes: null,
  adapters: [],
  hosts: [],
};

/** Lets every promise that can go on do so. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Each call waits until the test answers it: `engine.calls.at(-1).resolve(...)`. */
export class ScriptedEngine {
  constructor() {
    /** @type {{name: string, args: any[], resolve: (value?: any) => void,
     *   reject: (error: unknown) => void}[]} */
    this.calls = [];
    this.onNotice = (/** @type {any} */ _notice) => {};
    this.closed = false;
    this.woken = 0;
    this.stopped = 0;
    /** @type {string[]} */
    this.closedChats = [];
    /** @type {[string, any[]][]} */
    this.forgotten = [];
    /** @type {any[][]} */
    this.expected = [];
  }

  connect(/** @type {any[]} */ ...args) {
    return this._call('connect', args);
  }

  reroute(/** @type {any[]} */ ...args) {
    return this._call('reroute', args);
  }

  pull(/** @type {any[]} */ ...args) {
    return this._call('pull', args);
  }

  prepare(/** @type {any[]} */ ...args) {
    return this._call('prepare', args);
  }

  remove(/** @type {any[]} */ ...args) {
    return this._call('remove', args);
  }

  async forgetChat(/** @type {string} */ chat, /** @type {any[]} */ said) {
    this.forgotten.push([chat, said]);
    return { positions: 0, left: 0, earlier: true };
  }

  async closeChat(/** @type {string} */ chat) {
    this.closedChats.push(chat);
  }

  async expect(/** @type {any[]} */ ...args) {
    this.expected.push(args);
  }

  count(/** @type {any[]} */ ...args) {
    return this._call('count', args);
  }

  propose(/** @type {any[]} */ ...args) {
    return this._call('propose', args);
  }

  pause() {
    return this._call('pause', []);
  }

  reply(/** @type {any[]} */ ...args) {
    return { done: this._call('reply', args), stop: () => void this.stopped++ };
  }

  wake() {
    this.woken += 1;
  }

  close() {
    this.closed = true;
  }

  /** @param {string} name @returns {any} the newest call of that name */
  last(name) {
    return this.calls.findLast((call) => call.name === name);
  }

  /** @param {string} name @param {any[]} args */
  _call(name, args) {
    return new Promise((resolve, reject) => void this.calls.push({ name, args, resolve, reject }));
  }
}

/**
 * Starts a page and answers its engine until a message can be sent.
 * @param {import('../../src/ui/state/app.js').App} app @param {ScriptedEngine} engine
 */
export async function untilReady(app, engine) {
  void app.start();
  await settled();
  engine.last('connect').resolve(SERVER);
  await settled();
  engine.last('prepare').resolve({ kernel: 'simd', workers: 2 });
  await settled();
}

/** A store as one tab has it; tabs share the records. */
export const memoryChats = async (records = new MemoryRecords()) => new ChatStore('memory', records, null);
