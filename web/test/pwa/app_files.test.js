import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedList, listInPage, mayKeep } from '../../src/pwa/app_files.js';

test('nothing of a person, a model or a pairing may be kept', () => {
  const forbidden = [
    '/api', '/api/v1/adapters', '/weights/x/head', '/v1/models', '/v1', '/pair', '/pair/redeem', '/pair.html',
    '/health', '/metrics', '/app-files.json', '/service-worker.js', '//evil.org/x', '/../x', '/a/../../b',
    'x', '', '/a?b', '/a#b', '/a%2e', `/${'x'.repeat(300)}`,
  ];
  for (const path of forbidden) assert.equal(mayKeep(path), false, path);
  for (const path of ['/', '/app/b1/app.js', '/app/b1/pair.js', '/icons/icon.svg', '/manifest.webmanifest']) {
    assert.equal(mayKeep(path), true, path);
  }
});

test('a list is taken without what may not be kept', () => {
  const list = { build: 'b1', files: ['/', '/app/b1/app.js', '/', '/pair', '/api/v1/x'] };
  assert.deepEqual(checkedList(list), { build: 'b1', files: ['/', '/app/b1/app.js'] });
});

test('what is no list is refused', () => {
  const refused = [
    null, 'x', [], {}, { build: 'b1' }, { build: '', files: ['/'] }, { build: '../x', files: ['/'] },
    { build: 'x'.repeat(65), files: ['/'] }, { build: 5, files: ['/'] },
    { build: 'b1', files: '/' }, { build: 'b1', files: ['/app/b1/app.js'] }, { build: 'b1', files: ['/', 5] },
    { build: 'b1', files: Array(201).fill('/') },
  ];
  for (const value of refused) assert.equal(checkedList(value), null, JSON.stringify(value));
});

test('a page names its build, its files and those that are loaded by name', () => {
  const html = `<link rel="stylesheet" href="/app/b1/app.css"><script src="app/b1/app.js"></script>
    <link rel="icon" href="/icons/icon.svg">
    <a href="https://evil.org/app/b2/x.js">x</a><a href="/pair">p</a>`;
  const list = listInPage(html, 'https://box.example/');
  assert.equal(list?.build, 'b1');
  const expected = ['/', '/app/b1/app.css', '/app/b1/app.js', '/app/b1/ends.js', '/app/b1/engine.js'];
  for (const path of [...expected, '/app/b1/kernels.wasm', '/app/b1/template.js', '/icons/icon.svg']) {
    assert.ok(list?.files.includes(path), path);
  }
  assert.ok(!list?.files.some((path) => path.includes('b2') || path === '/pair'));
  assert.equal(listInPage('<p>no app</p>', 'https://box.example/'), null);
});
