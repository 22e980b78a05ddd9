import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isExposed, wayInWords } from '../../../src/ui/view/origin.js';

const place = (/** @type {string} */ url) => new URL(url);

test('plain http is exposed beyond this machine only', () => {
  const exposed = ['http://192.168.1.7:8095', 'http://host.lan', 'http://127.0.0.1.example.org'];
  const here = ['http://127.0.0.1:8095', 'http://localhost', 'http://a.localhost', 'http://[::1]:1'];
  const safe = [...here, 'https://host.lan'];
  assert.deepEqual(exposed.map((url) => isExposed(place(url))), exposed.map(() => true));
  assert.deepEqual(safe.map((url) => isExposed(place(url))), safe.map(() => false));
});

test('each way to the server has its words', () => {
  assert.match(wayInWords(place('https://host.lan')), /^TLS/);
  assert.match(wayInWords(place('http://localhost')), /within this machine/);
  assert.match(wayInWords(place('http://host.lan')), /^WITHOUT TLS/);
});
