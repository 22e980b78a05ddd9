import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { beyond, namesBeyond, syntaxBeyond } from '../../floor.mjs';

for (const code of [
  'const a = [...b].toSorted();',
  'const a = await Array.fromAsync(b);',
  'const a = new Set(b).isSubsetOf(c);',
  'const a = AbortSignal.any([b, c]);',
  'const a = map.values().map(b);',
]) {
  test(`a name that is too young is found: ${code}`, () => {
    assert.equal(namesBeyond(code, 'js').length, 1);
  });
}

test('names that all of the browsers know are not held against anybody', () => {
  const code = 'const a = structuredClone([...m.values()].map(b).at(-1)); AbortSignal.timeout(1); c.findLast(d);';
  assert.deepEqual(namesBeyond(code, 'js'), []);
  assert.deepEqual(namesBeyond('a:has(b) { height: 100dvh; field-sizing: content }', 'css'), []);
  assert.deepEqual(namesBeyond('a { color: light-dark(red, blue) }', 'css'), ['light-dark(']);
});

for (const code of ['{ using a = b(); a.c(); }', 'const a = /[\\p{L}--[a-z]]/v;']) {
  test(`syntax that is too young is found: ${code}`, async () => {
    assert.equal(await syntaxBeyond(code, 'js'), true);
  });
}

test('syntax of the year of these browsers stays as it is', async () => {
  const code = 'class A { #a = 1; static { A.b ??= 2; } has(x) { return #a in x && /(?<=b)c/d.test(x?.d); } }';
  assert.equal(await syntaxBeyond(code, 'js'), false);
  assert.equal(await syntaxBeyond('a { b { color: red } }', 'css'), true);
});

test('every script and style of a folder is looked at, and each problem names its file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'floor-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'a.js'), 'Promise.withResolvers();');
  await writeFile(join(folder, 'b.css'), 'a { color: red }');
  await writeFile(join(folder, 'c.txt'), 'Promise.withResolvers();');
  const problems = await beyond(folder);
  assert.equal(problems.length, 1);
  assert.match(problems[0], /^a\.js: Promise\.withResolvers is younger/);
});
