import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paramsFrom } from '../../../src/generation/params.js';
import { isSetting } from '../../../src/settings/settings.js';
import {
  NUMBER_FIELDS, readBias, readNumber, readSeed, readStops, recommended, writeBias, writeStops,
} from '../../../src/ui/words/sampling.js';

/** @typedef {import('../../../src/ui/words/sampling.js').NumberField} NumberField */
const field = (/** @type {string} */ name) =>
  /** @type {NumberField} */ (NUMBER_FIELDS.find((each) => each.name === name));

test('the ends of every range are taken by the settings and by the sampler', () => {
  for (const { name, low, high } of NUMBER_FIELDS) {
    for (const value of [low, high]) {
      assert.ok(isSetting(name, value), `${name} ${value}`);
      if (name !== 'max_tokens') assert.doesNotThrow(() => paramsFrom({ [name]: value }), `${name} ${value}`);
    }
  }
});

test('what lies outside of a range is refused with the range', () => {
  for (const each of NUMBER_FIELDS) {
    const result = readNumber(each, String(each.high + 1));
    assert.ok('problem' in result && result.problem.includes(String(each.high)), each.name);
  }
  assert.ok('problem' in readNumber(field('top_k'), '1.5'));
  assert.ok('problem' in readNumber(field('temperature'), 'warm'));
});

test('a number may be empty, and have a decimal comma', () => {
  assert.deepEqual(readNumber(field('temperature'), ' '), { value: null });
  assert.deepEqual(readNumber(field('temperature'), '0,7'), { value: 0.7 });
});

test('the model’s recommendation stands where there is one', () => {
  assert.equal(recommended(field('top_p'), { top_p: 0.95 }), 0.95);
  assert.equal(recommended(field('top_p'), {}), 1);
  assert.equal(recommended(field('top_p'), undefined), 1);
});

test('a seed has 64 bits and no more', () => {
  assert.deepEqual(readSeed('18446744073709551615'), { value: '18446744073709551615' });
  assert.deepEqual(readSeed('007'), { value: '7' });
  assert.deepEqual(readSeed(''), { value: null });
  assert.ok('problem' in readSeed('18446744073709551616'));
  assert.ok('problem' in readSeed('-1'));
});

test('stop texts survive writing and reading, line breaks and backslashes too', () => {
  const stops = ['\nUser:', '###', 'a\\nb', '\t'];
  assert.deepEqual(readStops(writeStops(stops)), { value: stops });
  assert.ok('problem' in readStops('x\n'.repeat(17)));
});

test('a bias survives writing and reading, and says what it cannot read', () => {
  const bias = { 42: -5, 7: 2.5 };
  assert.deepEqual(readBias(writeBias(bias)), { value: bias });
  for (const wrong of ['42', '42=101', 'x=1', '42=-5;7=1']) assert.ok('problem' in readBias(wrong), wrong);
});
