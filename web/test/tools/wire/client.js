// A client of the wire under a test's control: one JSON command per line of stdin, one answer per line.
//
//   {"open": {url, token, mode, manifest, hiddenSize, dtype, table, cacheSalt, maxRows}}   table: file of float32 rows;
//                                maxRows: of a step, where that is fewer than the server takes
//   {"extend": [token, ...]}     -> {hidden: base64, rows}   {"error": code}
//   {"interrupt": [token, ...], "after": n}   stops when n frames went out -> {"error": "cancelled"}
//   {"wake": true}, {"state": true}, {"close": true}
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError } from '../../../src/common/errors.js';
import { RemoteBackend } from '../../../src/session/remote.js';
import { Sequence } from '../../../src/session/sequence.js';
import { Channel } from '../../../src/transport/channel.js';
import { connector } from '../../../src/transport/connect.js';

/** @type {Channel} */ let channel;
/** @type {RemoteBackend} */ let backend;
/** @type {Sequence} */ let sequence;
/** @type {string[]} */ const kinds = [];
/** @type {any[]} */ const notices = [];
let sending = () => {};

/** @param {any} where */
function open({ url, token = null, mode, manifest, hiddenSize, dtype = null, table, patience = {}, cacheSalt, maxRows }) {
  const values = new Float32Array(new Uint8Array(readFileSync(table)).buffer);
  const connect = connector(url, token, 1 << 16);
  channel = new Channel({
    url,
    token,
    mode,
    patience,
    onNotice: (notice) => notices.push(notice),
    connect: async (kind, options) => {
      const transport = await connect(kind, options);
      kinds.push(kind);
      const exchange = transport.exchange.bind(transport);
      transport.exchange = (frame, how) => {
        const answer = exchange(frame, how);
        sending();
        return answer;
      };
      const send = transport.send?.bind(transport);
      if (send) {
        transport.send = (frame) => {
          send(frame);
          sending();
        };
        // An exchange of this one sends by itself.
        transport.exchange = exchange;
      }
      return transport;
    },
  });
  backend = new RemoteBackend(channel, { manifest, hiddenSize, dtype, cacheSalt });
  if (maxRows) Object.defineProperty(backend, 'maxRows', { value: maxRows });
  const rowsOf = async (/** @type {number[]} */ tokens, /** @type {number} */ start, /** @type {number} */ stop) => {
    const rows = new Float32Array((stop - start) * hiddenSize);
    tokens.slice(start, stop).forEach((id, i) => {
      rows.set(values.subarray(id * hiddenSize, (id + 1) * hiddenSize), i * hiddenSize);
    });
    return rows;
  };
  sequence = new Sequence(backend, rowsOf, { nameable: true });
}

/** @param {number[]} tokens @param {AbortSignal} [signal] */
async function extend(tokens, signal) {
  const { hidden, rows } = await sequence.extend(tokens, { signal });
  return { hidden: Buffer.from(hidden.slice().buffer).toString('base64'), rows };
}

/** Stops as soon as `after` frames went out. @param {number[]} tokens @param {number} after */
async function interrupt(tokens, after) {
  const stop = new AbortController();
  let left = after;
  sending = () => {
    left -= 1;
    if (left === 0) stop.abort();
  };
  try {
    return await extend(tokens, stop.signal);
  } finally {
    sending = () => {};
  }
}

function state() {
  const { traffic, reconnects, transportName } = channel;
  const { counters, cached } = sequence;
  const sessions = backend.sessionsOpened;
  return { ...counters, ...traffic, reconnects, transportName, cached, sessions, kinds, notices };
}

/** @param {any} command */
async function answer(command) {
  if (command.open) return open(command.open);
  if (command.extend) return extend(command.extend);
  if (command.interrupt) return interrupt(command.interrupt, command.after);
  if (command.wake) return channel.wake();
  if (command.state) return state();
  await sequence.close();
  return channel.close();
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(JSON.stringify((await answer(JSON.parse(line))) ?? {}));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    console.log(JSON.stringify({ error: error.code }));
  }
}
// A connection that died without a word would hold the process.
process.exit();
