import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Looked } from '../../src/redaction/finding/looked.js';
import { folded } from '../../src/redaction/folding.js';
import { GROUPS } from '../../src/redaction/kinds.js';
import { KnownValues } from '../../src/redaction/known_values.js';
import { Redactor } from '../../src/redaction/redactor.js';
import { attempted } from '../../src/redaction/surrogates/making.js';
import { Protection } from '../../src/redaction/undoing/protected.js';

const VECTORS = JSON.parse(await readFile(new URL('../../../tests/vectors/redaction.json', import.meta.url), 'utf8'));
const SECRET = Uint8Array.from(VECTORS.secret.match(/../g), (/** @type {string} */ pair) => Number.parseInt(pair, 16));
const KINDS = new Set(Object.values(GROUPS).flat());

/** Code points before a place in UTF-16 units. @param {string} text @param {number} unit */
const points = (text, unit) => [...text.slice(0, unit)].length;
/** @param {any[]} list */
const entriesOf = (list) => list.map(([kind, key, value, surrogate, rule]) => ({ kind, key, value, surrogate, rule }));
/** @type {Record<string, (text: string) => number>} */
const COUNTS = { none: () => 0, thirds: (text) => Math.ceil([...text].length / 3) };

test('the vectors are of the form that is known here', () => {
  assert.equal(VECTORS.format, 1);
  for (const part of ['folding', 'found', 'surrogates', 'chats', 'protected', 'undone']) assert.ok(VECTORS[part].length >= 7, part);
});

test('texts are folded as in the terminal, and each character knows its range', () => {
  for (const { text, folded: expected, ranges } of VECTORS.folding) {
    const own = folded(text);
    // What lies beyond the first plane is one unit of its own here.
    assert.equal(own.text, expected.replace(/[\u{10000}-\u{10ffff}]/gu, '\ufffd'), text);
    const found = Array.from(own.text, (_, at) => own.range(at, at + 1)).map(({ from, to }) => [points(text, from), points(text, to)]);
    assert.deepEqual(found, ranges, text);
  }
});

test('values are found as in the terminal', () => {
  for (const { text, regions, names, found } of VECTORS.found) {
    const looked = new Looked(text, regions);
    const own = new KnownValues(names).found(looked, KINDS).map(({ kind, key, start, end, rule }) => {
      const { from, to } = looked.folded.range(start, end);
      return [kind, key, points(text, from), points(text, to), rule];
    });
    assert.deepEqual(own, found, text);
  }
});

test('surrogates are drawn as in the terminal', () => {
  for (const { kind, key, rule, attempts } of VECTORS.surrogates) {
    const own = [0, 1, 2, 63, 64, 255].map((attempt) => attempted(SECRET, kind, key, rule, attempt));
    assert.deepEqual(own, attempts, `${kind} ${key}`);
  }
});

for (const { name, kinds, regions, names, count, messages, out, entries, undone } of VECTORS.chats) {
  test(`a chat goes out as from the terminal, and comes back: ${name}`, async () => {
    const counts = async (/** @type {string[]} */ texts) => texts.map(COUNTS[count]);
    const redactor = new Redactor({ groups: kinds, regions, names }, SECRET, [], counts);
    const sent = [];
    for (const [at, text] of messages.entries()) sent.push((await redactor.redacted(text, messages.slice(0, at))).text);
    assert.deepEqual(sent, out);
    assert.deepEqual(redactor.entries.all.map(({ kind, key, value, surrogate, rule }) => [kind, key, value, surrogate, rule]), entries);
    assert.deepEqual(out.map((/** @type {string} */ text) => redactor.undone(text).text), undone);
  });
}

test('the same of a reply is protected as in the terminal', () => {
  for (const { text, flags } of VECTORS.protected) {
    const own = new Protection().flags(text).map(Number);
    // By code point.
    let at = 0;
    assert.equal(Array.from(text, (point) => own[(at += point.length) - 1]).join(''), flags, text);
  }
});

for (const { name, regions, entries, reply, undone, pieces } of VECTORS.undone) {
  test(`a reply comes back as in the terminal, and as much of it at each time: ${name}`, () => {
    const redactor = new Redactor({ groups: [], regions, names: [] }, SECRET, entriesOf(entries));
    assert.equal(redactor.undone(reply).text, undone);
    const undo = redactor.undoing();
    const letters = [...reply];
    const given = [];
    for (let at = 0; at < letters.length; at += 3) given.push(undo.push(letters.slice(at, at + 3).join('')));
    assert.deepEqual([...given, undo.finish()], pieces);
  });
}
