import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../src/generation/loop.js';
import { tokenLogprobs } from '../../src/generation/logprobs.js';
import { EchoHead } from './plain_head.js';
import { randomNumbers } from './random.js';

const ROWS = 600;

/** @param {number} seed */
function logitsOf(seed) {
  const random = randomNumbers(seed);
  // Short numbers, so that some are equal.
  return Float32Array.from({ length: ROWS }, () => Math.round(96 * random()) / 8);
}

/** @param {Float32Array} logits @returns {number[]} by the definition */
function expected(logits) {
  const sum = [...logits].sort((a, b) => a - b).reduce((total, logit) => total + Math.exp(logit), 0);
  return Array.from(logits, (logit) => logit - Math.log(sum));
}

/** @param {number} told @param {number} wanted @param {number} within */
function near(told, wanted, within) {
  assert.ok(Math.abs(told - wanted) <= within, `${told}, not ${wanted}`);
}

// Bounds this close leave a doubt of the sum of at most 1e-5; wider ones are not used.
for (const [name, slack, within, full] of /** @type {[string, number | null, number, number][]} */ ([
  ['narrow bounds', 1e-7, 1e-6, 0],
  ['wide bounds', 0.5, 1e-12, 1],
  ['no bounds', null, 1e-12, 1],
])) {
  test(`with ${name} of the rest they are those of the definition`, async () => {
    for (let seed = 0; seed < 20; seed++) {
      const logits = logitsOf(seed);
      const wanted = expected(logits);
      const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
      for (const [token, count] of [[order[0], 3], [order[599], 20], [order[300], 0]]) {
        const head = new EchoHead(ROWS, { slack });
        const { logprob, top } = await tokenLogprobs(head, logits, token, count);
        near(logprob, wanted[token], within);
        assert.deepEqual(top.map(([id]) => id), order.slice(0, count));
        for (const [id, each] of top) near(each, wanted[id], within);
        assert.equal(head.calls.logits, full);
      }
    }
  });
}

test('more than twenty, or no whole number of them, are refused before anything is computed', async () => {
  const limits = { eosTokenIds: new Set([0]), maxTokens: 1, stops: [] };
  for (const logprobs of /** @type {any[]} */ ([21, -1, 1.5, NaN, '3', true])) {
    const none = /** @type {any} */ (null);
    const events = decode(none, none, none, [1], limits, { logprobs });
    await assert.rejects(events.next(), { code: 'invalid_sampling_parameter', field: 'logprobs' });
  }
});
