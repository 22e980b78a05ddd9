// What drafting costs in a chat of 100,000 tokens.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Drafter } from '../../../src/generation/speculation/drafter.js';
import { Memo } from '../../../src/generation/speculation/memo.js';
import { randomNumbers } from '../random.js';

const LENGTH = 100_000;
const MOST_MILLISECONDS = 0.2;
const MOST_BYTES = 32e6;

/** Frequent and rare tokens. @param {number} seed */
function prose(seed) {
  const chance = randomNumbers(seed);
  return () => Math.floor(5000 * chance() * chance());
}

/** The median of a draft for each of 500 further tokens. @param {Drafter} drafter @param {number[]} tokens @param {() => number} next */
async function medianMilliseconds(drafter, tokens, next) {
  const times = [];
  for (let i = 0; i < 500; i++) {
    const began = performance.now();
    const draft = await drafter.draft(tokens, 15);
    drafter.stepped({ rows: 1 + draft.tokens.length, returned: 1, seconds: 0.05, compute: 0.01, queue: 0 });
    if (draft.tokens.length) drafter.judged(draft, 0);
    times.push(performance.now() - began);
    tokens.push(next());
  }
  return times.sort((a, b) => a - b)[250];
}

test('a draft takes a fraction of a millisecond, of prose and of one token said over and over', async () => {
  for (const next of [prose(1), () => 7]) {
    const tokens = Array.from({ length: LENGTH }, next);
    const took = await medianMilliseconds(Drafter.ofChat(new Memo()), tokens, next);
    assert.ok(took <= MOST_MILLISECONDS, `${took} ms`);
  }
});

/** Bytes of typed arrays below a value, which hold nearly all of it. @param {unknown} value @returns {number} */
function bytesOf(value, seen = new Set()) {
  if (typeof value !== 'object' || value === null || seen.has(value)) return 0;
  seen.add(value);
  if (ArrayBuffer.isView(value)) return value.buffer.byteLength;
  return Object.values(value).reduce((sum, part) => sum + bytesOf(part, seen), 0);
}

test('the chat and a memory that is full stay within their bytes', async () => {
  const memo = new Memo();
  const drafter = Drafter.ofChat(memo);
  const next = prose(2);
  await drafter.draft(Array.from({ length: LENGTH }, next), 15);
  for (let i = 0; i < 40; i++) drafter.replied([1, 2, 3], Array.from({ length: 20_000 }, next));
  assert.ok(memo.length > 200_000);
  const bytes = bytesOf(drafter);
  assert.ok(bytes > 4e6 && bytes <= MOST_BYTES, `${bytes} bytes`);
});
