import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitPattern } from '../../../src/text/tokenizer/split_pattern.js';

/** @param {string} pattern @param {string} text */
function found(pattern, text) {
  return text.match(splitPattern(pattern)) ?? [];
}

test('white space is that of Unicode, not of JavaScript', () => {
  assert.deepEqual(found('\\s', ' \x85\ufeff\u3000'), [' ', '\x85', '\u3000']);
  assert.deepEqual(found('[^\\s]', ' \x85\ufeff'), ['\ufeff']);
});

test('letters without case fold as in Unicode', () => {
  assert.deepEqual(found("(?i:'s|'ll)", "'s'S'ſ'Ll'x"), ["'s", "'S", "'ſ", "'Ll"]);
  assert.deepEqual(found('(?i:[sk])', 'sSſkKK'), ['s', 'S', 'ſ', 'k', 'K', 'K']);
});

test('what a possessive repetition took it never gives back', () => {
  assert.deepEqual(found('a++b|a', 'aab'), ['aab']);
  assert.deepEqual(found('a*+ab|b', 'aab'), ['b']);
});

test('escapes, ranges and properties', () => {
  assert.deepEqual(found('\\x{1F600}|\\u00e9|\\x41', '😀éA'), ['😀', 'é', 'A']);
  assert.deepEqual(found('[a-c\\-\\]]+', 'ab-]d'), ['ab-]']);
  assert.deepEqual(found('\\p{Lu}+|\\p{^L}|\\P{N}', 'ABc1'), ['AB', 'c', '1']);
  assert.deepEqual(found('\\d{1,3}', '1٢34'), ['1٢3', '4']);
  assert.deepEqual(found('a.', 'ab\na\n'), ['ab']);
});

test('a code point that a later Unicode names is a letter to none', () => {
  assert.deepEqual(found('\\p{L}', 'a\u088f'), ['a']);
});

test('syntax that is not known to be exact is refused', () => {
  const refused = [
    'a*',
    '',
    'a|',
    '(?:a+)+',
    '(?:a+)*',
    'a{2}{3}',
    'a{2}+',
    'a**',
    '(?<=a)b',
    '(?<name>a)',
    '(?i)a',
    '(?>a)',
    '^a',
    'a$',
    '\\ba',
    '\\w',
    '\\h',
    '\\p{Greek}',
    '\\p{Nope}',
    '[[:alpha:]]',
    '[a&&b]',
    '[]a]',
    '[a',
    '(a',
    'a)',
    '\\',
    '[z-a]',
    '(?i:ss)',
    '(?i:é)',
    '(?i:\\p{L})',
    '\\x{110000}',
    '\\ud800',
    `${'('.repeat(20)}a${')'.repeat(20)}`,
    'a'.repeat(5000),
  ];
  for (const pattern of refused) {
    assert.throws(() => splitPattern(pattern), { code: 'tokenizer_invalid' }, pattern);
  }
});
