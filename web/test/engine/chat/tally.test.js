import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tally } from '../../../src/engine/chat/tally.js';

const timing = (/** @type {number} */ total) => ({ total, engine: 0, queue: 0, wire: 0, device: 0 });

/** @param {Partial<import('../../../src/generation/loop.js').TokenEvent>} about */
const event = (about) => /** @type {const} */ ({
  type: 'token', token: 7, text: 'x', probability: 1, rows: 0, drafted: 0, forced: false, timing: timing(0), logprobs: null, hidden: null, ...about,
});

test('of the first step the rows of the prompt are told, and of the reply its trips and forced tokens', () => {
  const counters = { steps: 5, rowsSent: 100, rowsReused: 0, rowsRestored: 3, resends: 0 };
  /** @type {any[]} */
  const told = [];
  const tally = new Tally((token) => told.push(token), counters);
  tally.take(event({ forced: true }));
  tally.take(event({ forced: true }));
  Object.assign(counters, { steps: 6, rowsSent: 117, rowsRestored: 7 });
  tally.take(event({ rows: 17, drafted: 5, timing: timing(0.5) }));
  tally.take(event({ timing: timing(0.25) }));
  Object.assign(counters, { steps: 7, rowsSent: 119 });
  tally.take(event({ rows: 2, drafted: 1, timing: timing(0.25) }));
  tally.take({ type: 'finished', reason: 'eos', text: '!' });
  const finished = tally.finished(40, 9n, null);
  assert.deepEqual(finished, {
    reason: 'eos', text: 'xxxxx!', tokens: 5, promptTokens: 40, promptSent: 10, promptRestored: 4, roundTrips: 2,
    rowsSent: 19, forced: 2, seed: '9', adapter: null, ttft: 0, tokensPerSecond: 4,
  });
  assert.deepEqual(told.map(({ index, rows, drafted, forced }) => [index, rows, drafted, forced]), [
    [0, 0, 0, true], [1, 0, 0, true], [2, 17, 5, false], [3, 0, 0, false], [4, 2, 1, false], [5, 0, 0, false],
  ]);
});

test('forced tokens that the server had kept are none of the prompt', () => {
  const counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 };
  const tally = new Tally(() => {}, counters);
  for (let i = 0; i < 5; i++) tally.take(event({ forced: true }));
  counters.rowsRestored = 44;
  tally.take(event({ rows: 1, timing: timing(0.1) }));
  assert.equal(tally.finished(40, 9n, null).promptRestored, 40);
});

test('a reply that one step brought has no speed', () => {
  const tally = new Tally(() => {}, { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 });
  tally.take(event({ rows: 9, timing: timing(0.5) }));
  tally.take(event({ forced: true, timing: timing(0.0001) }));
  assert.equal(tally.finished(9, 9n, null).tokensPerSecond, 0);
});

test('a reply that was stopped before its first step has sent nothing', () => {
  const counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 };
  const tally = new Tally(() => {}, counters);
  tally.take({ type: 'finished', reason: 'cancelled', text: '' });
  const { promptSent, roundTrips, tokensPerSecond } = tally.finished(4, 0n, null);
  assert.deepEqual([promptSent, roundTrips, tokensPerSecond], [0, 0, 0]);
});

test('of a prompt that was there it is told how much is not exact', () => {
  const counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0, exact: 20 };
  const tally = new Tally(() => {}, counters);
  counters.rowsRestored = 32;
  tally.take(event({ rows: 8, timing: timing(0.1) }));
  assert.equal(tally.finished(40, 9n, null).promptApproximate, 12);
  const exact = new Tally(() => {}, { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 });
  exact.take(event({ rows: 8, timing: timing(0.1) }));
  assert.equal('promptApproximate' in exact.finished(40, 9n, null), false);
});

test('what is begun of a reply is told apart from what is new', () => {
  const counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 };
  /** @type {any[]} */
  const told = [];
  const tally = new Tally((token) => told.push(token), counters, { ids: [4, 5, 6], text: 'abc' });
  tally.take(event({ forced: true }));
  Object.assign(counters, { steps: 1, rowsSent: 2 });
  tally.take(event({ rows: 2, timing: timing(0.5) }));
  tally.take({ type: 'finished', reason: 'length', text: '' });
  const { text, tokens, promptTokens, promptSent, ttft } = tally.finished(43, 9n, null);
  assert.deepEqual([text, tokens, promptTokens, promptSent, ttft], ['abcxx', 2, 43, 1, 0]);
  assert.deepEqual(tally.ids, [4, 5, 6, 7, 7]);
  assert.deepEqual(told.map(({ index }) => index), [3, 4]);
});
