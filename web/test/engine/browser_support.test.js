import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireAble } from '../../src/engine/browser_support.js';
import { Engine } from '../../src/engine/engine.js';

class Worker {}
const without = { validate: () => false };

test('an engine with SIMD and workers within workers is able', () => {
  assert.doesNotThrow(() => requireAble({ WebAssembly, Worker }));
});

test('what is asked for is SIMD: a module that gives a vector, which no number is', () => {
  /** @type {number[]} */
  let asked = [];
  const validate = (/** @type {BufferSource} */ bytes) => ((asked = [.../** @type {Uint8Array} */ (bytes)]), true);
  requireAble({ WebAssembly: { validate }, Worker });
  assert.ok(WebAssembly.validate(Uint8Array.from(asked)));
  const [vector, number] = [0x7b, 0x7f];
  const changed = asked.with(asked.indexOf(vector), number);
  assert.equal(WebAssembly.validate(Uint8Array.from(changed)), false);
});

for (const [scope, words] of /** @type {const} */ ([
  [{ Worker }, /no WebAssembly/],
  [{ WebAssembly: without, Worker }, /without SIMD/],
  [{ WebAssembly }, /no workers that start workers/],
])) {
  test(`a browser with too little is told so in words: ${words.source}`, () => {
    assert.throws(() => requireAble(scope), { code: 'browser_too_old', message: words });
  });
}

test('it is told before the server is asked for anything', async (t) => {
  const fetch = t.mock.method(globalThis, 'fetch', async () => new Response());
  const engine = new Engine(() => {}, { cores: 1, able: () => requireAble({}) });
  await assert.rejects(engine.connect({ url: 'http://127.0.0.1', token: null }), { code: 'browser_too_old' });
  assert.equal(fetch.mock.callCount(), 0);
});
