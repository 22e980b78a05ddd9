// Transports, sockets and time that do what a test tells them.
import { Channel } from '../../src/transport/channel.js';
import { ConnectionLost, ServerUnreachable, UpgradeRefused } from '../../src/transport/errors.js';
import { encodeMessage } from '../../src/protocol/messages.js';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';

export const FRAME = Uint8Array.of(1, 2, 3);
export const OTHER = Uint8Array.of(9);
export const LOST = new ConnectionLost('cut');
export const GONE = new ServerUnreachable('nobody');
export const REFUSED = new UpgradeRefused('no');
export const PING = encodeMessage({ type: 'ping' });
export const PONG = encodeServerMessage({ type: 'pong' });

/** @param {Uint8Array} frame */
export const answerOf = (frame) => Uint8Array.of(...frame, 0xff);

/** Lets everything run that waits for nothing but its turn. */
export async function settled() {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

/** A clock that only waiting moves, and timers that fire when it is moved. */
export class FakeTime {
  constructor() {
    this.now = 0;
    /** @type {{at: number, run: () => void}[]} */
    this._timers = [];
    /** @type {import('../../src/transport/timer.js').After} */
    this.after = (seconds, run) => {
      const timer = { at: this.now + seconds, run };
      this._timers.push(timer);
      return () => {
        this._timers = this._timers.filter((each) => each !== timer);
      };
    };
  }

  get pending() {
    return this._timers.length;
  }

  /** @param {number} seconds */
  async pass(seconds) {
    const until = this.now + seconds;
    for (;;) {
      const due = this._timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this._timers = this._timers.filter((each) => each !== due);
      this.now = due.at;
      due.run();
      await settled();
    }
    this.now = until;
  }
}

/** A deferred answer: the exchange hangs until it is aborted. */
export const HANGS = Symbol('hangs');

/**
 * Transports by a script: `connects` and `answers` are used up front to back. An Error is thrown, HANGS
 * waits for the signal, anything else is the result; when they run out everything works.
 */
export class Script {
  /** @param {{connects?: any[], answers?: any[]}} [lines] */
  constructor({ connects = [], answers = [] } = {}) {
    this.connects = connects;
    this.answers = answers;
    /** @type {string[]} */
    this.kinds = [];
    /** @type {number[]} */
    this.timeouts = [];
    /** @type {Uint8Array[]} */
    this.sent = [];
    /** @type {number[]} */
    this.accepted = [];
    /** @type {number[]} */
    this.waits = [];
    /** @type {any[]} */
    this.notices = [];
    /** @type {any[]} */
    this.transports = [];
    this.now = 0;
    this.under_way = 0;
    this.most = 0;
  }

  get closed() {
    return this.transports.filter((transport) => !transport.open).length;
  }

  /** @param {any} [options] */
  channel(options = {}) {
    return new Channel({
      url: 'http://server',
      token: null,
      connect: (kind, how) => this._connect(kind, how),
      clock: () => this.now,
      chance: () => 1,
      pause: async (seconds) => {
        this.waits.push(seconds);
        this.now += seconds;
      },
      onNotice: (notice) => this.notices.push(notice),
      ...options,
    });
  }

  /** @param {'websocket' | 'http'} kind @param {{timeout: number, signal: AbortSignal}} how */
  async _connect(kind, { timeout, signal }) {
    this.kinds.push(kind);
    this.timeouts.push(timeout);
    await line(this.connects, signal);
    /** @type {any} */
    const transport = {
      name: kind,
      open: true,
      end: null,
      accept: (/** @type {number} */ size) => this.accepted.push(size),
      close: () => (transport.open = false),
      exchange: (/** @type {Uint8Array} */ frame, /** @type {any} */ { signal: stop }) =>
        this._exchange(transport, frame, stop),
    };
    this.transports.push(transport);
    return transport;
  }

  /** @param {any} transport @param {Uint8Array} frame @param {AbortSignal} signal */
  async _exchange(transport, frame, signal) {
    if (!transport.open) throw new Error('a frame on a closed connection');
    this.sent.push(frame.slice());
    this.under_way += 1;
    this.most = Math.max(this.most, this.under_way);
    try {
      const answer = new Uint8Array(frame.length + 1).fill(0xff);
      answer.set(frame);
      return (await line(this.answers, signal)) ?? answer;
    } finally {
      this.under_way -= 1;
    }
  }
}

/** @param {any[]} lines @param {AbortSignal} signal */
async function line(lines, signal) {
  const next = lines.shift();
  if (next instanceof Error) throw next;
  if (next !== HANGS) return next;
  return new Promise((_, reject) => {
    const stop = () => reject(new Error('aborted'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** What a browser's WebSocket looks like to whoever uses it. */
export class FakeSocket {
  /** @param {string} url @param {string[]} protocols */
  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
    this.protocol = '';
    this.readyState = 0;
    this.bufferedAmount = 0;
    this.binaryType = 'blob';
    /** @type {Uint8Array[]} */
    this.sent = [];
    /** @type {number[]} */
    this.closes = [];
    /** @type {any} */ this.onopen = null;
    /** @type {any} */ this.onmessage = null;
    /** @type {any} */ this.onclose = null;
    /** @type {any} */ this.onerror = null;
  }

  opens(protocol = 'split.v1') {
    this.protocol = protocol;
    this.readyState = 1;
    this.onopen?.({});
  }

  /** @param {Uint8Array | string} data */
  receives(data) {
    this.onmessage?.({ data: typeof data === 'string' ? data : data.slice().buffer });
  }

  /** @param {number} code @param {string} [reason] */
  ends(code, reason = '') {
    this.readyState = 3;
    this.onerror?.({});
    this.onclose?.({ code, reason });
  }

  /** @param {Uint8Array} data */
  send(data) {
    this.sent.push(data.slice());
  }

  /** @param {number} code */
  close(code) {
    this.readyState = 3;
    this.closes.push(code);
  }
}
