import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '../../../server/split_server/web_app/app');
// Minified: import{a as b}from"./x.js" or import"./x.js"; import("./x.js") is not among them.
const STATIC = /\bimport\s*(?:[\w*{][^"'()]*?from\s*)?["']\.\/([^"']+)["']/g;

/** @param {string} script @returns {Promise<Set<string>>} what is fetched before its first line runs */
async function fetchedWith(script, found = new Set([script])) {
  const text = await readFile(join(BUILT, script), 'utf8');
  for (const [, name] of text.matchAll(STATIC)) {
    if (found.has(name)) continue;
    found.add(name);
    await fetchedWith(name, found);
  }
  return found;
}

test('a script of the first load is few files, as each has headers of its own', async () => {
  assert.equal((await fetchedWith('app.js')).size, 2);
  assert.equal((await fetchedWith('template.js')).size, 1);
  const workers = new Set([...(await fetchedWith('engine.js')), ...(await fetchedWith('ends.js'))]);
  assert.ok(workers.size <= 6, [...workers].join(' '));
});

test('a part that is loaded on demand brings nothing that its script has already', async () => {
  const whole = [...(await fetchedWith('app.js'))];
  const [, shared] = whole;
  const text = await readFile(join(BUILT, shared), 'utf8');
  const parts = [...text.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, name]) => name);
  assert.ok(parts.some((name) => name.startsWith('sheet-')));
  for (const part of parts) {
    const brought = [...(await fetchedWith(part))].filter((name) => name !== part && !whole.includes(name));
    // One that two parts share.
    assert.ok(brought.length <= 1, `${part}: ${brought.join(' ')}`);
  }
});
