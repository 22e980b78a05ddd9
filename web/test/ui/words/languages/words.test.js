import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import de from '../../../../src/ui/words/languages/de.js';
import { chosen, dated, language, show, t, tn } from '../../../../src/ui/words/languages/words.js';

const SOURCE = fileURLToPath(new URL('../../../../src/ui', import.meta.url));
// The first text of each call; of `tn` the second argument is the key.
const SAID = /\b(?:t\(|tn\([^'"`]*?,)\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g;
const PLACES = /\{\w+\}/g;

/** The keys that the page's source has. */
async function keys() {
  const names = (await readdir(SOURCE, { recursive: true })).filter((name) => /\.jsx?$/.test(name) && !/languages/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(SOURCE, name), 'utf8')));
  const found = texts.flatMap((text) => [...text.matchAll(SAID)].map(([, single, double]) => single ?? double));
  return new Set(found.map((key) => key.replace(/\\(.)/g, '$1')));
}

afterEach(() => show('en'));

test('every text that can be said in German is, and none is left over', async () => {
  const said = await keys();
  assert.ok(said.size > 80);
  assert.deepEqual([...said].filter((key) => !(key in de)), []);
  assert.deepEqual(Object.keys(de).filter((key) => !said.has(key)), []);
});

test('what is put into a text is put into its translation', () => {
  const places = (/** @type {string} */ text) => (text.match(PLACES) ?? []).sort();
  for (const [key, said] of Object.entries(de)) {
    for (const form of typeof said === 'string' ? [said] : said) assert.deepEqual(places(form), places(key), key);
  }
});

test('English needs no dictionary', () => {
  assert.equal(language(), 'en');
  assert.equal(t('More for {title}', { title: 'Ferns {n}' }), 'More for Ferns {n}');
  assert.equal(tn(1, '{n} day ago', '{n} days ago'), '1 day ago');
  assert.equal(tn(1234, '{n} day ago', '{n} days ago'), '1,234 days ago');
});

test('German has its own words, forms and numbers', async () => {
  await show('de');
  assert.equal(language(), 'de');
  assert.equal(t('Settings'), 'Einstellungen');
  assert.equal(tn(1, '{n} day ago', '{n} days ago'), 'vor 1 Tag');
  assert.equal(tn(1234, '{n} day ago', '{n} days ago'), 'vor 1.234 Tagen');
  assert.equal(t('No such words'), 'No such words');
  assert.equal(dated(Date.UTC(2026, 2, 15), { month: 'long' }), 'März');
});

test('a language that is not wanted any more once it is there is not shown', async () => {
  await show('de', () => false);
  assert.equal(language(), 'en');
});

test('the first language of the browser that the page has is chosen, else English', () => {
  assert.equal(chosen('auto', ['fr', 'de-AT', 'en']), 'de');
  assert.equal(chosen('auto', ['en-GB', 'de']), 'en');
  assert.equal(chosen('auto', ['fr', 'constructor']), 'en');
  assert.equal(chosen('auto', []), 'en');
  assert.equal(chosen('en', ['de']), 'en');
});
