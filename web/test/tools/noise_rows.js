// Noises rows on request of another language. JSON on stdin: {"cases": [{width, sigma, clip, key (hex),
// model,
// codec, tokens, rows (base64 of f32)}], "epsilons": [{epsilon, delta, clip, sensitivity, width}]}; on stdout
// {"rows": [base64 of what is released], "sigmas": [of each epsilon]}.
import { readFileSync } from 'node:fs';
import { RowMechanism } from '../../src/noise/mechanism/mechanism.js';
import { RowStreams, histories } from '../../src/noise/mechanism/prf.js';

/** @param {any} request */
function released({ width, sigma, clip, key, model, codec, tokens, rows }) {
  const mechanism = new RowMechanism({ sigma, clip, sensitivity: 2 * clip, width });
  const streams = new RowStreams({ key: Buffer.from(key, 'hex'), layer: 'embedding', sigma, clip, model, codec });
  const before = histories(tokens);
  const names = tokens.map((/** @type {number} */ token, /** @type {number} */ position) =>
    ({ position, token, history: before[position] }));
  const given = Uint8Array.from(Buffer.from(rows, 'base64'));
  const noised = mechanism.release(new Float32Array(given.buffer), names, streams);
  return Buffer.from(noised.buffer).toString('base64');
}

const { cases, epsilons } = JSON.parse(readFileSync(0, 'utf8'));
const sigmas = epsilons.map((/** @type {any} */ wanted) => RowMechanism.forEpsilon(wanted).sigma);
process.stdout.write(JSON.stringify({ rows: cases.map(released), sigmas }));
