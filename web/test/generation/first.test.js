import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FirstTokens } from '../../src/generation/first.js';
import { paramsFrom } from '../../src/generation/params.js';
import { AffectedTokens } from '../../src/generation/processors.js';
import { rank } from '../../src/generation/ranking.js';
import { EchoHead } from './plain_head.js';
import { randomNumbers } from './random.js';

const ROWS = 800;

/** A head that remembers what was asked of it. */
class AskedHead extends EchoHead {
  /** @type {[number, number][]} how many, and how many by name */
  asked = [];

  /** @param {Float32Array} hidden @param {number} k @param {Int32Array} also */
  async top(hidden, k, also) {
    this.asked.push([k, also.length]);
    return super.top(hidden, k, also);
  }
}

/**
 * By the definition: every logit is changed, all are sorted.
 * @param {AffectedTokens} affected @param {Float32Array} logits
 */
function expected(affected, logits) {
  const changed = Float64Array.from(logits, (logit, id) => affected.adjustToken(id, logit));
  return rank(Int32Array.from(logits.keys()), changed);
}

/** @param {() => number} random @param {number} length */
function tokens(random, length) {
  return Array.from({ length }, () => Math.floor(random() * ROWS));
}

const PENALTIES = [
  { repetition_penalty: 1.1 },
  { repetition_penalty: 3, frequency_penalty: 0.3, presence_penalty: 2 },
  { repetition_penalty: 0.7 },
  { repetition_penalty: 1.4, frequency_penalty: -0.5 },
  { presence_penalty: -2 },
  { presence_penalty: 1, logit_bias: { 5: 4, 6: -4, 7: 0 } },
];

test('the first tokens are those of the whole vocabulary, whatever the history', async () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 150; round++) {
    const affected = new AffectedTokens(
      paramsFrom(PENALTIES[round % PENALTIES.length]),
      ROWS,
      round % 2 ? Int32Array.of(3, 6, 700) : null,
    );
    affected.follow(tokens(random, 1500 * random()), tokens(random, 900 * random()));
    const scale = round % 3 ? 8 : 1; // equal logits in every third round
    const logits = Float32Array.from({ length: ROWS }, () => Math.round(scale * (12 * random() - 6)) / scale);
    const first = new FirstTokens(new EchoHead(ROWS), affected);
    const all = expected(affected, logits);
    for (const k of [1, 20, 50, 790, ROWS]) {
      const found = await first.find(logits, k);
      assert.deepEqual(found.ids, all.ids.slice(0, k));
      assert.deepEqual(found.logits, all.logits.slice(0, k));
    }
  }
});

test('tokens that are only lowered are not asked for by name', async () => {
  const affected = new AffectedTokens(paramsFrom({ repetition_penalty: 1.1, logit_bias: { 5: 1 } }), ROWS);
  affected.follow([...Array(ROWS / 2).keys()], []);
  const head = new AskedHead(ROWS);
  const random = randomNumbers(2);
  const logits = Float32Array.from({ length: ROWS }, () => 10 * random());
  await new FirstTokens(head, affected).find(logits, 20);
  assert.deepEqual(head.asked, [[84, 1]]);
});

test('where all that is likely is lowered, all affected are named, and more is asked for later', async () => {
  const affected = new AffectedTokens(paramsFrom({ presence_penalty: 2 }), ROWS);
  affected.follow([], [...Array(200).keys()]);
  const logits = Float32Array.from({ length: ROWS }, (_, id) => (id < 200 ? 11 : 10) - id / ROWS);
  const head = new AskedHead(ROWS);
  const first = new FirstTokens(head, affected);
  for (let call = 0; call < 2; call++) {
    assert.deepEqual([...(await first.find(logits, 2)).ids], [200, 201]);
  }
  assert.deepEqual(head.asked, [[66, 0], [2, 200], [202, 0]]);
});

test('a lowered token gives way to an equal one of a lower id that was not listed', async () => {
  const affected = new AffectedTokens(paramsFrom({ presence_penalty: 1 }), ROWS);
  const lowered = [10, ...Array.from({ length: 64 }, (_, i) => 700 + i)];
  affected.follow([], lowered);
  // The 65 listed are the 64 of logit 6 and token 10; of logit 5 after that are 11 and all of the 64.
  const logits = Float32Array.from({ length: ROWS }, (_, id) => (id >= 700 && id < 764 ? 6 : 0));
  logits[10] = logits[11] = 5;
  const head = new AskedHead(ROWS);
  assert.deepEqual([...(await new FirstTokens(head, affected).find(logits, 1)).ids], [11]);
  assert.equal(head.asked.length, 2);
});

test('what lists the whole vocabulary is not asked again', async () => {
  const affected = new AffectedTokens(paramsFrom({ presence_penalty: 1 }), ROWS);
  affected.follow([], [...Array(300).keys()]);
  const head = new AskedHead(ROWS);
  await new FirstTokens(head, affected).find(new Float32Array(ROWS), ROWS);
  assert.equal(head.asked.length, 1);
});

test('penalties that raise, and few affected tokens, need one call', async () => {
  const random = randomNumbers(3);
  const logits = Float32Array.from({ length: ROWS }, () => 10 * random());
  for (const [fields, asked] of /** @type {const} */ ([
    [{ repetition_penalty: 0.9 }, [4, 3]],
    [{ repetition_penalty: 1.1 }, [7, 0]],
  ])) {
    const affected = new AffectedTokens(paramsFrom(fields), ROWS);
    affected.follow([1, 2, 2], [3]);
    const head = new AskedHead(ROWS);
    await new FirstTokens(head, affected).find(logits, 4);
    assert.deepEqual(head.asked, [asked]);
  }
});
