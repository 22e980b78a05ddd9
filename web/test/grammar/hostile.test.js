// Forms that cost: each is followed within bounds, or refused by a code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../src/grammar/form.js';
import { FormFollower } from '../../src/grammar/reply.js';
import { randomNumbers } from '../generation/random.js';
import { embedded } from './vocabulary.js';

const vocabulary = embedded();
/** @param {any} value @returns {import('../../types/gatelink').Form} */
const schema = (value) => ({ kind: 'json_schema', text: JSON.stringify(value) });
/** @param {number} count @param {any} each */
const many = (count, each) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, each]));

/** @type {Record<string, import('../../types/gatelink').Form>} */
const FOLLOWED = {
  'repeats of repeats': { kind: 'regex', text: '((a*)*)*b' },
  'counts of counts': { kind: 'regex', text: '((a{0,100}){0,100}){0,100}' },
  'many ways to match': { kind: 'regex', text: '(a|b|ab)*c{1,1000}' },
  'four thousand choices': { kind: 'choice', texts: Array.from({ length: 4096 }, (_, at) => `choice number ${at}`) },
  'eight thousand values': schema({ enum: Array.from({ length: 8000 }, (_, at) => `value ${at}`) }),
  'hundreds of objects': schema({ anyOf: Array.from({ length: 300 }, (_, at) => ({ type: 'object', properties: { [`k${at}`]: {} }, required: [`k${at}`], additionalProperties: false })) }),
  'hundreds of properties that may be left out': schema({ type: 'object', properties: many(300, { type: 'boolean' }), additionalProperties: false }),
  'thousands of properties': schema({ type: 'object', properties: many(2000, {}), required: Object.keys(many(2000, 0)), additionalProperties: false }),
  'a long string': schema({ type: 'string', minLength: 5000, maxLength: 90_000 }),
  'a constant of 200 kB': schema({ const: 'x'.repeat(200_000) }),
  'a reference beside other keywords, within itself': schema({
    $ref: '#/$defs/n', $defs: { n: { type: 'object', properties: { n: { $ref: '#/$defs/n', maxProperties: 3 } } } },
  }),
  'names of prototypes': schema(JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "integer"}}, "required": ["__proto__", "toString"]}')),
};

for (const [name, form] of Object.entries(FOLLOWED)) {
  test(`followed: ${name}`, async () => {
    const follower = new FormFollower(vocabulary.tree, languageOf(form), vocabulary);
    const next = randomNumbers(1);
    let of = follower.start;
    for (let left = 30; left > 0 && !follower.isFinished(of); left--) {
      const mask = await follower.allowed(of, left);
      const allowed = [...mask.keys()].filter((id) => mask[id]);
      of = follower.after(of, allowed[Math.floor(next() * allowed.length)]);
    }
  });
}

/** @type {[string, import('../../types/gatelink').Form, string][]} */
const REFUSED = [
  ['all of itself', schema({ allOf: [{ $ref: '#' }] }), 'form_endless'],
  ['itself or null', schema({ anyOf: [{ $ref: '#' }, { type: 'null' }] }), 'form_endless'],
  ['two that are each other', schema({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }), 'form_endless'],
  ['a long regex', { kind: 'regex', text: 'a'.repeat(20_000) }, 'form_invalid'],
  ['a large count', { kind: 'regex', text: 'a{1000000}' }, 'form_invalid'],
  ['nested groups', { kind: 'regex', text: '('.repeat(5000) + ')'.repeat(5000) }, 'form_invalid'],
  ['a state for each of its characters', schema({ type: 'string', pattern: '^(a|b)*a(a|b){20}$', maxLength: 90 }), 'form_too_costly'],
  ['properties that may be left out without number', schema({ type: 'object', properties: many(3000, true) }), 'form_too_costly'],
  ['a value that its type forbids', schema({ type: 'string', const: 3 }), 'form_impossible'],
  ['bounds without a number', schema({ type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 1 }), 'form_impossible'],
  ['oneOf that may both hold', schema({ oneOf: [{ type: 'number' }, { type: 'integer' }] }), 'invalid_schema'],
];

for (const [name, form, code] of REFUSED) {
  test(`refused: ${name}`, () => assert.throws(() => languageOf(form), { code }));
}

for (const text of ['a**', '*a', 'a(', 'a)', '[a', '[]', '[z-a]', '\\', 'a{2', 'a{3,2}', '(?=a)', '(?!a)', '(?<=a)', '\\b', '\\1', '(?i)a', 'a^b', 'a$b', '\\p{Nothing}', '[a&&b]']) {
  test(`a regex that is refused: ${text}`, () => assert.throws(() => languageOf({ kind: 'regex', text }), { code: 'form_invalid' }));
}
