import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHERE, engineOf, manifest, modelOf, offering, request } from './engines.js';

offering();

test('what the latest reply looked at outlasts a connection, and goes with its chat', async () => {
  const { engine } = engineOf();
  await engine.connect(WHERE);
  const reply = /** @type {any} */ ({ answer: (/** @type {string} */ _ask, /** @type {number} */ from) => ({ from }) });
  engine._attention._latest = { chat: 'c', reply };
  await engine.connect(WHERE);
  assert.deepEqual([engine.keptAttention({ chat: 'c', ask: 'attended', value: 3 }), engine.keptAttention({ chat: 'd', ask: 'attended', value: 0 })], [{ from: 3 }, null]);
  await engine.closeChat({ chat: 'd' });
  assert.deepEqual(engine.keptAttention({ chat: 'c', ask: 'attended', value: 0 }), { from: 0 });
  await engine.closeChat({ chat: 'c' });
  assert.equal(engine.keptAttention({ chat: 'c', ask: 'attended', value: 0 }), null);
});

test('the tokens of replies are those of one model, and go with their chat', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [])] });
  const begin = (/** @type {string} */ answer, /** @type {string} */ chat) =>
    engine._answers.begin(/** @type {any} */ ({ ...request(), answer, chat }), [1], []);
  begin('early', 'c');
  assert.equal(await engine.tokens({ answer: 'early', from: 0 }), null);
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  begin('a', 'c');
  begin('b', 'd');
  assert.deepEqual(await engine.tokens({ answer: 'a', from: 0 }), { tokens: [], count: 0 });
  assert.equal(await engine.alternatives({ answer: 'a', at: 0 }), null);
  await engine.closeChat({ chat: 'c' });
  assert.equal(await engine.tokens({ answer: 'a', from: 0 }), null);
  assert.notEqual(await engine.tokens({ answer: 'b', from: 0 }), null);
  await engine.remove({ digest: manifest.digest });
  assert.equal(engine._answers.named('b'), null);
});
