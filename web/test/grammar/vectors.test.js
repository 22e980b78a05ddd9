// The vectors that the Python client shares: which texts a form has, and which forms are refused.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { languageOf } from '../../src/grammar/form.js';
import { bytesOfText } from '../../src/grammar/language/characters.js';
import { KEYWORDS } from '../../src/grammar/schema/keywords.js';
import { shortest } from '../../src/grammar/language/shortest.js';

const vectors = JSON.parse(await readFile(new URL('../../../tests/vectors/forms.json', import.meta.url), 'utf8'));

/** @param {import('../../src/grammar/form.js').Language} language @param {string} text */
function has({ expressions, start }, text) {
  let of = start;
  for (const byte of bytesOfText(text)) of = expressions.after(of, byte.charCodeAt(0));
  return of.nullable;
}

/** @param {any} form @param {{accepted: string[], refused: string[]}} texts */
function check(form, { accepted, refused }) {
  const language = languageOf(form);
  for (const text of accepted) assert.ok(has(language, text), `accepts ${text}`);
  for (const text of refused) assert.ok(!has(language, text), `refuses ${text}`);
  assert.ok(shortest(language.expressions, language.start) < Infinity);
}

test('the list of keywords is the Python client’s', () => assert.deepEqual(KEYWORDS, vectors.keywords));

for (const each of vectors.schemas) {
  test(`a schema: ${each.name}`, () => check({ kind: 'json_schema', text: JSON.stringify(each.schema) }, each));
}
for (const each of vectors.choices) {
  test(`a choice of ${each.texts.length}: ${each.texts[0]}`, () => check({ kind: 'choice', texts: each.texts }, each));
}
for (const each of vectors.regexes) {
  test(`a regex: ${each.pattern}`, () => check({ kind: 'regex', text: each.pattern }, each));
}
for (const { code, keyword, path, ...given } of vectors.refusals) {
  test(`refused: ${JSON.stringify(given).slice(0, 70)}`, () => {
    assert.throws(() => languageOf(formOf(given)), (/** @type {any} */ error) => {
      assert.equal(error.code, code);
      if (keyword) assert.match(error.message, new RegExp(`\\b${keyword.replace('$', '\\$')}\\b`.replace('\\b\\$', '\\$')));
      if (path) assert.equal(error.path, path);
      return true;
    });
  });
}

/** @param {any} given @returns {import('../../types/gatelink').Form} */
function formOf(given) {
  if ('choice' in given) return { kind: 'choice', texts: given.choice };
  if ('regex' in given) return { kind: 'regex', text: given.regex };
  return { kind: 'json_schema', text: JSON.stringify(given.schema) };
}
