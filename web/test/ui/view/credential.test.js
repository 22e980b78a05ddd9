import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToken } from '../../../src/pairing/pair.js';
import { readCredential } from '../../../src/ui/view/credential.js';

const TOKEN = 'abcdefghijklmnopqrstuvwxyz0123456789';

test('a code may be typed in small letters and without its hyphen', () => {
  for (const text of ['ab2d-ef3h', 'AB2DEF3H', ' ab2d ef3h ']) {
    assert.deepEqual(readCredential(text, isToken), { kind: 'code', code: 'AB2D-EF3H' });
  }
});

test('a pasted link gives its code', () => {
  const link = 'https://192.0.2.1:8095/pair#AB2D-EF3H.q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA';
  assert.deepEqual(readCredential(link, isToken), { kind: 'code', code: 'AB2D-EF3H' });
});

test('a token is taken as it is', () => {
  assert.deepEqual(readCredential(` ${TOKEN}\n`, isToken), { kind: 'token', token: TOKEN });
});

test('anything else is refused in words', () => {
  for (const text of ['', 'no', 'two words of text', 'https://192.0.2.1/']) {
    assert.throws(() => readCredential(text, isToken), { code: 'credential_invalid' });
  }
});
