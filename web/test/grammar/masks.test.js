import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../src/grammar/form.js';
import { shortest } from '../../src/grammar/language/shortest.js';
import { FormFollower } from '../../src/grammar/reply.js';
import { Masks } from '../../src/grammar/tokens/masks.js';
import { embedded, small } from './vocabulary.js';
import { randomNumbers } from '../generation/random.js';
import { FORMS } from './forms.js';

const vocabulary = embedded();

/** What each token leads to, byte by byte, with nothing kept. @param {any} x @param {any} of @param {string} text */
function plainly(x, of, text) {
  for (const unit of text) of = x.after(of, unit.charCodeAt(0));
  return text !== '' && shortest(x, of) < Infinity;
}

for (const [name, form] of Object.entries(FORMS)) {
  test(`masks are those of a walk of every token alone: ${name}`, () => {
    const language = languageOf(form);
    const { expressions: x } = language;
    const masks = new Masks(vocabulary.tree, language);
    const next = randomNumbers(7);
    let of = language.start;
    for (let step = 0; step < 40 && of !== x.empty; step++) {
      const mask = new Uint8Array(vocabulary.rows);
      masks.allow(of, Infinity, mask);
      const expected = vocabulary.tree.texts.map((text) => (plainly(x, of, text) ? 1 : 0));
      assert.deepEqual([...mask], expected);
      const allowed = expected.flatMap((one, id) => (one ? [id] : []));
      if (!allowed.length) break;
      of = masks.after(of, allowed[Math.floor(next() * allowed.length)]);
    }
  });

  test(`a reply of any length that suffices ends whole: ${name}`, async () => {
    const language = languageOf(form);
    const follower = new FormFollower(vocabulary.tree, language, vocabulary);
    const least = shortest(language.expressions, language.start);
    const next = randomNumbers(3);
    for (const most of [least, least + 7, 60 + least]) {
      const { text, whole } = await written(follower, most, next);
      assert.ok(whole, JSON.stringify(text));
      if (form.kind.startsWith('json')) JSON.parse(text);
    }
  });
}

/**
 * A reply of tokens drawn from what is allowed.
 * @param {FormFollower} follower @param {number} most @param {() => number} next
 */
async function written(follower, most, next) {
  let of = follower.start;
  /** @type {number[]} */
  const tokens = [];
  while (tokens.length < most && !follower.isFinished(of)) {
    const remaining = most - tokens.length;
    const forced = await follower.forced(of, remaining);
    const mask = await follower.allowed(of, remaining);
    const allowed = [...mask.keys()].filter((id) => mask[id]);
    if (forced.length) assert.deepEqual(allowed, [forced[0]]);
    else assert.ok(allowed.length > 1);
    const token = allowed[Math.floor(next() * allowed.length)];
    assert.equal(await follower.permitted(of, [token], remaining), 1);
    tokens.push(token);
    of = follower.after(of, token);
  }
  const ids = tokens.filter((token) => !vocabulary.eos.includes(token));
  return { text: vocabulary.tokenizer.decode(ids), whole: of.nullable };
}

test('what is permitted is what the masks allow, token by token', async () => {
  const follower = new FormFollower(vocabulary.tree, languageOf(FORMS.person), vocabulary);
  const tokens = vocabulary.tokenizer.encode('{"name": "Ada", "age": 36, "tags": ["x"]} and more');
  let of = follower.start;
  let count = 0;
  for (const token of tokens) {
    if (follower.isFinished(of) || !(await follower.allowed(of, 100 - count))[token]) break;
    of = follower.after(of, token);
    count += 1;
  }
  assert.equal(await follower.permitted(follower.start, tokens, 100), count);
});

test('forced tokens are as the tokenizer writes the text, and stop where what follows may change the last', async () => {
  const { tree, eos, encode, texts } = small(['{"', 'na', 'name', '":', '": ', ' "', ' "a']);
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false };
  const follower = new FormFollower(tree, languageOf({ kind: 'json_schema', text: JSON.stringify(schema) }), { eos, encode });
  // ' "a' may begin within '": '.
  const forced = await follower.forced(follower.start, 100);
  assert.deepEqual(forced.map((id) => texts[id]), ['{"', 'name']);
});

test('forced tokens are at most as many as are left', async () => {
  const { tree, eos, encode } = small([]);
  const follower = new FormFollower(tree, languageOf({ kind: 'choice', texts: ['abcdef'] }), { eos, encode });
  assert.equal((await follower.forced(follower.start, 3)).length, 3);
  assert.equal((await follower.forced(follower.start, 100)).length, 6);
});

test('a space that the tokenizer takes off the beginning of a text is no part of the form', async () => {
  const { tree, eos, encode, texts } = small([' a', 'ab']);
  const about = { eos, encode, strips: true };
  const follower = new FormFollower(tree, languageOf({ kind: 'regex', text: 'ab|ac' }), about);
  const mask = await follower.allowed(follower.start, 10);
  assert.deepEqual(texts.filter((_, id) => mask[id]), [' ', 'a', ' a', 'ab']);
});

test('a vocabulary without the letters of a form is told', async () => {
  const offsets = Uint32Array.of(0, 1);
  const { TokenTree } = await import('../../src/grammar/tokens/trie.js');
  const tree = new TokenTree({ bytes: Uint8Array.of(97), offsets });
  const follower = new FormFollower(tree, languageOf({ kind: 'choice', texts: ['b', 'c'] }), { eos: [], encode: async () => null });
  await assert.rejects(follower.allowed(follower.start, 5), { code: 'form_unwritable' });
});
