// The encrypted adapter of ../adapter.py: tokens of one reply against a real host, each part timed.
import { HostedAdapters } from '../../../../web/src/crypto/hosted.js';
import { answer } from './jobs.js';

let reply;
/** Milliseconds of the parts of each token. */
const parts = { encrypt: [], decrypt: [], token: [] };

answer({
  /** Agrees on keys; how long that took. */
  async open({ host, hiddenSize }) {
    const began = performance.now();
    const hosted = await HostedAdapters.open({ host, token: null, hiddenSize });
    reply = await hosted.use(hosted.available[0]);
    const keys = reply._session._keys;
    for (const part of ['encrypt', 'decrypt']) keys[part] = timed(part, keys[part].bind(keys));
    return performance.now() - began;
  },
  /** Corrects the states one after another; what came of the last one. */
  async tokens({ states }) {
    for (const list of Object.values(parts)) list.length = 0;
    let corrected;
    for (const state of states) corrected = await timedToken(Float32Array.from(state));
    return { ...parts, corrected: [...corrected] };
  },
});

const timedToken = timed('token', (state) => reply.correct(state));

function timed(part, work) {
  return async (...given) => {
    const began = performance.now();
    const result = await work(...given);
    parts[part].push(performance.now() - began);
    return result;
  };
}
