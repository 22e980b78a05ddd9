import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolved } from '../../src/markdown/entities.js';

test('references of both kinds become their characters', () => {
  assert.equal(resolved('&lt;b&gt; &amp;&quot;&#39;&#x1F44D; &mdash;'), '<b> &"\'👍 —');
});

test('what is no reference stays as it is and nothing is resolved twice', () => {
  assert.equal(resolved('a & b &unknown; &; &#; &#x; &lt'), 'a & b &unknown; &; &#; &#x; &lt');
  assert.equal(resolved('&amp;lt;'), '&lt;');
});

test('numbers that are no characters become U+FFFD', () => {
  assert.equal(resolved('&#0;&#xD800;&#x110000;&#9999999;'), '\ufffd'.repeat(4));
});
