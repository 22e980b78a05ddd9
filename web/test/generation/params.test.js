import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { DEFAULTS, MAX_BIASED_TOKENS, paramsFrom } from '../../src/generation/params.js';

/** @type {[string, unknown, RegExp][]} */
const REFUSED = [
  ['temperature', -0.1, /in 0\.\.100/],
  ['temperature', NaN, /in 0\.\.100/],
  ['temperature', Infinity, /in 0\.\.100/],
  ['temperature', '1', /in 0\.\.100/],
  ['temperature', true, /in 0\.\.100/],
  ['top_k', -1, /a whole number/],
  ['top_k', 2.5, /a whole number/],
  ['top_k', 2 ** 31, /a whole number/],
  ['top_k', true, /a whole number/],
  ['top_p', 0, /above 0/],
  ['top_p', 1.01, /at most 1/],
  ['min_p', -0.1, /in 0\.\.1/],
  ['min_p', 1.5, /in 0\.\.1/],
  ['repetition_penalty', 0, /in 0\.01\.\.100/],
  ['presence_penalty', 2.5, /in -2\.\.2/],
  ['frequency_penalty', -2.5, /in -2\.\.2/],
  ['seed', -1, /in 0\.\.2\^64-1/],
  ['seed', 2n ** 64n, /in 0\.\.2\^64-1/],
  ['seed', 2 ** 53, /in 0\.\.2\^64-1/],
  ['seed', 1.5, /in 0\.\.2\^64-1/],
  ['seed', '-1', /in 0\.\.2\^64-1/],
  ['seed', '1e3', /in 0\.\.2\^64-1/],
  ['seed', '', /in 0\.\.2\^64-1/],
  ['logit_bias', { 1: 101 }, /in -100\.\.100/],
  ['logit_bias', new Map([[1, NaN]]), /in -100\.\.100/],
  ['logit_bias', { x: 1 }, /token ids/],
  ['logit_bias', { '01': 1 }, /token ids/],
  ['logit_bias', new Map([[-1, 1]]), /token ids/],
  ['logit_bias', [1], /token ids/],
  ['logit_bias', new Map(Array.from({ length: MAX_BIASED_TOKENS + 1 }, (_, id) => [id, 1])), /at most 1024/],
  ['banned', 'ab', /a set of token ids/],
  ['banned', [-1], /a set of token ids/],
  ['banned', new Set(['1']), /a set of token ids/],
  ['banned', [true], /a set of token ids/],
];

for (const [field, value, allowed] of REFUSED) {
  test(`${field} = ${value instanceof Map ? 'a map' : String(value)} is refused with its range`, () => {
    assert.throws(
      () => paramsFrom({ [field]: value }),
      (error) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, 'invalid_sampling_parameter');
        assert.match(error.message, allowed);
        assert.ok(error.message.startsWith(field));
        return true;
      },
    );
  });
}

test('nothing given is greedy, and the defaults cannot be changed through it', () => {
  const params = paramsFrom({});
  assert.deepEqual(params, DEFAULTS);
  params.banned.add(1);
  params.logitBias.set(1, 1);
  assert.deepEqual(paramsFrom({}), { ...DEFAULTS, banned: new Set(), logitBias: new Map() });
});

test('the ends of every range are allowed', () => {
  const low = { temperature: 0, top_k: 0, top_p: 1e-9, min_p: 0, repetition_penalty: 0.01, seed: 0 };
  const high = { temperature: 100, top_k: 2 ** 31 - 1, top_p: 1, min_p: 1, repetition_penalty: 100 };
  assert.equal(paramsFrom({ ...low, presence_penalty: -2, frequency_penalty: -2 }).repetitionPenalty, 0.01);
  assert.equal(paramsFrom({ ...high, seed: '18446744073709551615' }).seed, 2n ** 64n - 1n);
});

test('snake case and camel case say the same, and what JSON has stands for maps, sets and seeds', () => {
  const snake = { top_k: 5, logit_bias: { 3: 4, 11: -100 }, banned: [7, 7], seed: '42', min_p: 0.5 };
  const logitBias = new Map([[3, 4], [11, -100]]);
  const camel = { topK: 5, logitBias, banned: new Set([7]), seed: 42n, minP: 0.5 };
  assert.deepEqual(paramsFrom(snake), paramsFrom(camel));
});

test('what is missing or null is what the model recommends; zero is not missing', () => {
  const recommended = { temperature: 0.7, top_k: 20, repetition_penalty: 1.1 };
  const params = paramsFrom({ temperature: 0, top_k: null, top_p: undefined, max_tokens: -5 }, recommended);
  assert.equal(params.temperature, 0);
  assert.equal(params.topK, 20);
  assert.equal(params.topP, 1);
  assert.equal(params.repetitionPenalty, 1.1);
  assert.ok(!('max_tokens' in params));
});

test('what a recommendation gets wrong is refused too', () => {
  assert.throws(() => paramsFrom({}, { temperature: -1 }), { code: 'invalid_sampling_parameter' });
});

test('a bias that is changed later changes nothing', () => {
  const bias = new Map([[1, 2]]);
  const params = paramsFrom({ logit_bias: bias });
  bias.set(1, NaN);
  assert.deepEqual([...params.logitBias], [[1, 2]]);
});
