// tests/vectors/context.json, which Python's units, travelling and pruning are held to as well.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { dimmest } from '../../../src/chats/brightness/dimmest.js';
import { CodePoints } from '../../../src/chats/context/code_points.js';
import { candidates, pruned, targetOf } from '../../../src/chats/context/pruning.js';
import { rangesIn, stillDropped } from '../../../src/chats/context/ranges.js';
import { travelling } from '../../../src/chats/context/travelling.js';
import { unitsOf } from '../../../src/chats/context/units.js';

const FILE = new URL('../../../../tests/vectors/context.json', import.meta.url);
const { format, units, travelling: chats, pruning, dimmest: dim, amended, targets } = JSON.parse(readFileSync(FILE, 'utf8'));

const lengthOf = (/** @type {string} */ text) => new CodePoints(text).length;
const characters = (/** @type {any[]} */ chat) =>
  travelling(chat).reduce((sum, { content }) => sum + lengthOf(content), 0);
const bare = (/** @type {any[]} */ chat) => chat.map(({ dropped, ...each }) => (dropped?.length ? { ...each, dropped } : each));

test('the vectors are of the format that is known here', () => {
  assert.equal(format, 1);
  for (const { chat } of chats) {
    for (const { dropped, content } of chat) assert.deepEqual(rangesIn(dropped, content), dropped ?? []);
  }
});

for (const { name, role, content, units: expected } of units) {
  test(`units: ${name}`, () => {
    const found = unitsOf({ role, content });
    assert.deepEqual(found.map(({ start, stop, kind }) => [start, stop, kind]), expected);
    const points = new CodePoints(content);
    assert.equal(found.map(({ start, stop }) => points.slice(start, stop)).join(''), content);
  });
}

for (const { name, chat, sent } of chats) {
  test(`travelling: ${name}`, () => assert.deepEqual(travelling(chat), sent));
}

for (const { name, chat, target, pruned: expected, units: count, tokens } of pruning) {
  test(`pruning: ${name}`, async () => {
    const found = await pruned(chat, candidates(chat), characters, lengthOf, target, characters(chat));
    assert.deepEqual([bare(found.chat), found.units, found.tokens], [bare(expected), count, tokens]);
  });
}

for (const { name, chat, order, target, pruned: expected, units: count, tokens } of dim) {
  test(`the dimmest first: ${name}`, async () => {
    const places = dimmest(chat);
    assert.deepEqual(places.map(({ index, unit }) => [index, unit.start, unit.stop]), order);
    const found = await pruned(chat, places, characters, lengthOf, target, characters(chat));
    assert.deepEqual([bare(found.chat), found.units, found.tokens], [bare(expected), count, tokens]);
  });
}

for (const { name, before, after, dropped, still } of amended) {
  test(`still left out: ${name}`, () => assert.deepEqual(stillDropped(dropped, before, after), still));
}

for (const { budget, target } of targets) {
  test(`of a budget of ${budget} so much is left`, () => assert.equal(targetOf(budget), target));
}
