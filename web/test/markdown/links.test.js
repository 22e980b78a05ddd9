import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeTarget } from '../../src/markdown/links.js';

test('whole targets on the web and addresses are followed', () => {
  assert.equal(safeTarget('https://example.org/a?b=1#c'), 'https://example.org/a?b=1#c');
  assert.equal(safeTarget('HTTP://Example.org'), 'http://example.org/');
  assert.equal(safeTarget('https://пример.рф/x'), 'https://xn--e1afmkfd.xn--p1ai/x');
  assert.equal(safeTarget('mailto:a@b.de'), 'mailto:a@b.de');
});

const REFUSED = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\u0001javascript:alert(1)',
  'javascript&colon;alert(1)',
  'javascript://example.org/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'data:image/svg+xml;base64,PHN2Zz4=',
  'vbscript:msgbox(1)',
  'blob:https://example.org/x',
  'file:///etc/passwd',
  'filesystem:http://x/y',
  'about:blank',
  'view-source:https://example.org',
  'intent://x#Intent;end',
  'tel:123',
  'ws://example.org',
  '//example.org/x',
  '/api/v1/adapters',
  'api/v1',
  '#top',
  '?x',
  '',
  'https:',
  'https://',
  'https:example.org',
  'https:///x',
  'http://user:word@example.org/',
  'https://trusted.org@evil.org/',
  'https://exa\u202emple.org',
  'https://example.org/\u200b',
  'https://[::1',
  `https://example.org/${'x'.repeat(3000)}`,
];

for (const target of REFUSED) {
  test(`not followed: ${JSON.stringify(target.slice(0, 40))}`, () => assert.equal(safeTarget(target), null));
}
