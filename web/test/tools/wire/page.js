// A client of the wire in a browser, for a test that evaluates it: global `wire`.
import { RemoteBackend } from '../../../src/session/remote.js';
import { Sequence } from '../../../src/session/sequence.js';
import { Channel } from '../../../src/transport/channel.js';

let mostUnderWay = 0;

/** Counts the frames without an answer of every socket. */
function watchSockets() {
  /** @type {WeakMap<WebSocket, number>} */
  const unanswered = new WeakMap();
  const count = (/** @type {WebSocket} */ socket, /** @type {number} */ more) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + more);
    mostUnderWay = Math.max(mostUnderWay, unanswered.get(socket) ?? 0);
  };
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    if (!unanswered.has(this)) this.addEventListener('message', () => count(this, -1));
    count(this, 1);
    send.call(this, data);
  };
}

/** @param {any} where table: rows of the embedding, by token; maxRows: of a step, fewer than the server takes */
function open({ url, token, mode, manifest, table, maxRows }) {
  const hiddenSize = table[0].length;
  const channel = new Channel({ url, token, mode, onNotice: (notice) => notices.push(notice) });
  const backend = new RemoteBackend(channel, { manifest, hiddenSize });
  if (maxRows) Object.defineProperty(backend, 'maxRows', { value: maxRows });
  const sequence = new Sequence(backend, async (tokens, start, stop) =>
    Float32Array.from(tokens.slice(start, stop).flatMap((id) => table[id])),
  );
  /** @type {any[]} */
  const notices = [];
  return {
    /** @param {number[]} tokens */
    extend: async (tokens) => Array.from((await sequence.extend(tokens)).hidden),
    wake: () => channel.wake(),
    state: () => ({
      transport: channel.transportName,
      sessions: backend.sessionsOpened,
      resends: sequence.counters.resends,
      rowsSent: sequence.counters.rowsSent,
      most: mostUnderWay,
      notices,
    }),
  };
}

Object.assign(globalThis, { wire: { open, watchSockets } });
