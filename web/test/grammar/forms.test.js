import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Forms } from '../../src/grammar/forms.js';
import { FORMS } from './forms.js';
import { spawning } from './spawned.js';
import { embedded } from './vocabulary.js';

const { tokenizer, bytes, eos, rows } = embedded();
const vocabulary = () => ({ ...bytes, eos });
const encode = (/** @type {string} */ text) => tokenizer.encode(text);

/** @type {Forms[]} */
const opened = [];
after(() => opened.forEach((forms) => forms.close()));

/** @param {Partial<ConstructorParameters<typeof Forms>[0]>} [options] */
function rig(options) {
  const { spawn, counts, last } = spawning();
  const forms = new Forms({ vocabulary, encode, spawn, ...options });
  opened.push(forms);
  return { forms, counts, last };
}

/**
 * A whole reply of the likeliest tokens, by id.
 * @param {import('../../src/grammar/forms.js').FormConstraint} constraint @param {number} most
 */
async function written(constraint, most) {
  /** @type {number[]} */
  const tokens = [];
  let forced = 0;
  while (tokens.length < most && !constraint.finished) {
    const left = most - tokens.length;
    const sure = await constraint.forced(left);
    assert.equal(await constraint.permitted(sure, left), sure.length);
    forced += sure.length;
    for (const token of sure) {
      tokens.push(token);
      await constraint.accept(token);
    }
    if (constraint.finished || tokens.length === most) break;
    const mask = await constraint.allowed(most - tokens.length);
    assert.equal(mask.length, rows);
    const token = mask.lastIndexOf(1);
    tokens.push(token);
    await constraint.accept(token);
  }
  return { text: tokenizer.decode(tokens), forced };
}

test('a worker follows a form: the reply is whole, and forced tokens are told', async () => {
  const { forms, counts } = rig();
  const { text, forced } = await written(await forms.begin(FORMS.person), 60);
  const value = JSON.parse(text);
  assert.deepEqual(Object.keys(value).slice(0, 2), ['name', 'age']);
  assert.ok(forced >= 4, `${forced} forced`);
  const again = await written(await forms.begin(FORMS.person), 60);
  assert.equal(again.text, text);
  assert.equal(counts.started, 1);
});

test('a form is checked without a vocabulary, and refused by name and path', async () => {
  const { forms } = rig({ vocabulary: null });
  await forms.check(FORMS.person);
  const schema = { type: 'object', properties: { a: { not: {} } } };
  const refused = forms.check({ kind: 'json_schema', text: JSON.stringify(schema) });
  await assert.rejects(refused, (/** @type {any} */ error) => {
    assert.equal(error.code, 'invalid_schema');
    assert.match(error.message, /not cannot be enforced.*#\/properties\/a/);
    return true;
  });
  await forms.check(FORMS.person);
});

test('a worker that dies ends what waits with a code, and the next form starts another', async () => {
  const { forms, counts, last } = rig();
  const constraint = await forms.begin(FORMS.person);
  const waiting = constraint.allowed(20);
  last.die();
  await assert.rejects(waiting, { code: 'form_failed', retryable: true });
  const next = await forms.begin(FORMS.person);
  assert.equal(counts.started, 2);
  await assert.rejects(constraint.allowed(20), { code: 'form_failed' });
  assert.equal((await next.allowed(20)).length, rows);
});

test('a form that takes too long is given up', async () => {
  const { forms, counts } = rig({ vocabulary: null, patience: { compile: 1, step: 1 } });
  await assert.rejects(forms.check(FORMS.records), { code: 'form_failed' });
  assert.equal(counts.ended, 1);
});

test('a tokenizer that fails on a text is done without', async () => {
  const { forms } = rig({ encode: () => { throw new Error('no'); } });
  const { text } = await written(await forms.begin(FORMS.person), 60);
  assert.equal(typeof JSON.parse(text), 'object');
});
