// A client of the wire in a browser, for a test that evaluates it: global `wire`.
import { RemoteBackend } from '../../../src/session/remote.js';
import { Sequence } from '../../../src/session/sequence.js';
import { Channel } from '../../../src/transport/channel.js';

/** @param {any} where table: rows of the embedding, by token */
function open({ url, token, mode, manifest, table }) {
  const hiddenSize = table[0].length;
  const channel = new Channel({ url, token, mode, onNotice: (notice) => notices.push(notice) });
  const backend = new RemoteBackend(channel, { manifest, hiddenSize });
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
      notices,
    }),
  };
}

Object.assign(globalThis, { wire: { open } });
