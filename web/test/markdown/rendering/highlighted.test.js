import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlighted } from '../../../src/markdown/rendering/highlighted.js';
import { LANGUAGES } from '../../../src/markdown/rendering/languages.js';

test('code comes in pieces by what they are, and is the same text', () => {
  assert.deepEqual(highlighted('return "a" # b', 'Python'), [
    ['keyword', 'return'],
    ['', ' '],
    ['string', '"a"'],
    ['', ' '],
    ['comment', '# b'],
  ]);
  const page = '<b onclick="alert(1)">x</b><script>let a = 1</script>';
  const pieces = highlighted(page, 'html') ?? [];
  assert.equal(pieces.map(([, text]) => text).join(''), page);
  assert.ok(pieces.some(([kind, text]) => kind === 'keyword' && text === 'let'));
  for (const [kind] of pieces) assert.match(kind, /^[a-z]*$/);
});

test('a language that is not known, and what no language is called, is not coloured', () => {
  for (const lang of ['', 'nosuch', '__proto__', 'constructor', 'toString']) assert.equal(highlighted('a', lang), null);
});

test('every language takes what is none of its own', () => {
  const odd = '\0"\'`<!--${{{(((/*//#\n\\\u2028\ud800'.repeat(20);
  for (const lang of Object.keys(LANGUAGES)) assert.ok(highlighted(odd, lang), lang);
});
