import assert from 'node:assert/strict';
import { readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '../../../server/split_server/web_app/app');
const STATIC = /\bimport\s*(?:[\w*{][^"'()]*?from\s*)?["']\.\/([^"']+)["']/g;
const MOST_BYTES = 64 * 1024;
// What is in the parts alone: the worker's labels, the errors of hosts, the words to choose and to pair with.
const MARKS = ['gatelink ckks query 1', 'adapter_host_unreachable', 'Show its adapters', 'Pair with the host', 'What the adapter host sees'];

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

const first = new Set();
for (const script of ['app.js', 'engine.js', 'ends.js', 'template.js']) for (const name of await fetchedWith(script)) first.add(name);
const scripts = (await readdir(BUILT)).filter((name) => name.endsWith('.js') && !name.startsWith('de-'));

test('encrypted adapters are loaded on demand, and are at most 64 kB before they are compressed', async () => {
  const files = new Set(['ring.wasm']);
  for (const mark of MARKS) {
    const marked = [];
    for (const name of scripts) if ((await readFile(join(BUILT, name), 'utf8')).includes(mark)) marked.push(name);
    assert.ok(marked.length > 0, mark);
    for (const part of marked) {
      assert.ok(!first.has(part), `${part} is loaded with the page`);
      for (const name of await fetchedWith(part)) if (!first.has(name)) files.add(name);
    }
  }
  const sizes = await Promise.all([...files].map(async (name) => (await stat(join(BUILT, name))).size));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(all <= MOST_BYTES, `${all} bytes: ${[...files].join(' ')}`);
});

test('no script of the page has entropy that is known', async () => {
  const text = await readFile(join(BUILT, 'crypto.js'), 'utf8');
  assert.match(text, /getRandomValues/);
  assert.doesNotMatch(text, /Math\.random|shake256|createHash/);
});
