import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Answers, MOST_BYTES } from '../../../src/engine/steering/answers.js';

const WIDTH = 2048;
const TOKENS = 1000;
const REPLIES = 40;
// A fiftieth of the fastest token that a page was seen to make.
const MOST_MILLISECONDS = 0.1;

test('keeping what a token was chosen from takes a fraction of a tenth of a millisecond, and 16 MiB in all', () => {
  const answers = new Answers();
  const step = new Float32Array(WIDTH).fill(1);
  const times = Array.from({ length: REPLIES }, (_, reply) => {
    const messages = [{ role: 'user', content: 'x'.repeat(10_000) }];
    const start = performance.now();
    const log = answers.begin(/** @type {any} */ ({ answer: `${reply}`, chat: 'c', messages }), Array(4000).fill(1), []);
    for (let token = 0; token < TOKENS; token += 1) log.take(token, step);
    return (performance.now() - start) / TOKENS;
  });
  times.sort((a, b) => a - b);
  const median = times[REPLIES / 2];
  assert.ok(median < MOST_MILLISECONDS, `${median} ms`);
  const bytes = Array.from({ length: REPLIES }, (_, reply) => answers.named(`${reply}`)?.log.bytes ?? 0);
  assert.ok(bytes.reduce((sum, each) => sum + each, 0) <= MOST_BYTES);
});
