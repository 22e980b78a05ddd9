import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../src/grammar/form.js';
import { readSchema } from '../../src/grammar/schema/document.js';
import { brokenAt } from '../../src/grammar/schema/json_place.js';

/** @type {[string, number, number][]} */
const BROKEN = [
  ['{"type": "object",\n "properties": }', 2, 16],
  ['{"a": 1,}', 1, 9],
  ['{"a" 1}', 1, 2],
  ['[1, 2', 1, 6],
  ['{"a": [true, nul]}', 1, 14],
  ['{} {}', 1, 4],
  ["{'a': 1}", 1, 2],
  ['{"a": "x\ny"}', 1, 7],
  ['', 1, 1],
];

for (const [text, line, column] of BROKEN) {
  test(`broken JSON is told by line and column: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(brokenAt(text), { line, column });
    assert.throws(() => readSchema(text), { code: 'invalid_schema' });
  });
}

/** @param {number} depth */
const nested = (depth) => '{"items": '.repeat(depth - 1) + '{}' + '}'.repeat(depth - 1);

test('a schema that is too deep, too long or no object is refused in one line', () => {
  languageOf({ kind: 'json_schema', text: nested(60) });
  for (const text of [nested(80), `{"title": "${'x'.repeat(300_000)}"}`, '[]', 'null', '3', '"a"']) {
    assert.throws(() => readSchema(text), (/** @type {any} */ error) => error.code === 'invalid_schema' && !error.message.includes('\n'));
  }
});

test('keywords with values that they cannot have are refused by name and path', () => {
  for (const [name, value] of Object.entries({
    type: 'strnig', enum: [], required: 'a', properties: [], items: 3, anyOf: [], minLength: -1, maxItems: 1.5,
    minimum: '1', multipleOf: 0, pattern: 3, $ref: '#/nowhere', additionalProperties: null,
  })) {
    const text = JSON.stringify({ type: 'object', properties: { a: { [name]: value } } });
    assert.throws(() => languageOf({ kind: 'json_schema', text }), { code: 'invalid_schema', path: '#/properties/a' });
  }
});

test('a $ref to another document is refused', () => {
  assert.throws(() => readSchema('{"$ref": "https://example.org/schema"}'), { code: 'invalid_schema' });
});
