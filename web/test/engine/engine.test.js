import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { AppError } from '../../src/common/errors.js';
import { Engine, METHODS, shardCount } from '../../src/engine/engine.js';
import { parseManifest } from '../../src/weights/manifest.js';
import { Offer } from '../weights/offers.js';

const WHERE = { url: 'http://server', token: null };
const offer = new Offer();
const manifest = parseManifest(offer.manifest);
const { fetch } = globalThis;

beforeEach(() => {
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) =>
    url.endsWith('/manifest.json') ? new Response(offer.manifest) : new Response('', { status: 404 }));
});
afterEach(() => {
  globalThis.fetch = fetch;
});

/** A store that has the model or not. @param {{stored: boolean}} options */
const storeOf = ({ stored }) => ({
  kind: 'memory',
  list: async () => [{ digest: manifest.digest, name: manifest.name, complete: stored, bytes: stored ? 7 : 0 }],
  find: async () => (stored ? { manifest } : null),
  free: async () => 1000,
  remove: async () => {},
});

/** A model whose tokenizer does what the test says. @param {() => number[]} encode */
function modelOf(encode) {
  const model = { manifest, tokenizer: { encode }, template: null, closed: 0, ends: { kernel: 'simd', workers: 2 } };
  return Object.assign(model, { close: async () => void (model.closed += 1) });
}

/** @param {{stored?: boolean, models?: any[]}} options */
function engineOf({ stored = true, models = [] } = {}) {
  const opening = [...models];
  const options = { cores: 2, openStore: async () => storeOf({ stored }), openModel: async () => opening.shift() };
  return { opening, engine: new Engine(() => {}, /** @type {any} */ (options)) };
}

const request = () => ({
  chat: 'c', messages: [{ role: 'user', content: 'hi' }], params: {}, maxTokens: 1, stop: [], adapter: null, mode: 'plain',
});

/** @param {Promise<any>} promise @param {string} code */
const refused = (promise, code) =>
  assert.rejects(promise, (error) => error instanceof AppError && error.code === code);

test('every method that a page may call is there', () => {
  const { engine } = engineOf();
  for (const method of METHODS) assert.equal(typeof (/** @type {any} */ (engine)[method]), 'function', method);
});

test('connect tells what is served and what of it is here', async () => {
  const { engine } = engineOf();
  const connected = await engine.connect(WHERE);
  assert.equal(connected.manifest.digest, manifest.digest);
  assert.deepEqual([connected.stored, connected.doneBytes, connected.storage, connected.freeBytes], [true, 7, 'memory', 1000]);
  assert.deepEqual(connected.adapters, []);
});

test('what comes too early is refused with what has to come first', async () => {
  const { engine } = engineOf({ stored: false });
  await refused(engine.prepare(null, () => {}), 'not_ready');
  await engine.connect(WHERE);
  await refused(engine.prepare(null, () => {}), 'not_ready');
});

test('the ends are opened once, however often they are asked for', async () => {
  const { engine, opening } = engineOf({ models: [modelOf(() => []), modelOf(() => [])] });
  await engine.connect(WHERE);
  const both = [engine.prepare(null, () => {}), engine.prepare(null, () => {})];
  assert.deepEqual(await Promise.all(both), [{ kernel: 'simd', workers: 2 }, { kernel: 'simd', workers: 2 }]);
  assert.equal(opening.length, 1);
});

test('ends that died are closed, and opened again with the next reply', async () => {
  const dead = modelOf(() => {
    throw new AppError('ends_failed', 'a worker stopped', { retryable: true });
  });
  const { engine, opening } = engineOf({ models: [dead, modelOf(() => [])] });
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 1), 'ends_failed');
  assert.equal(dead.closed, 1);
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 2), 'prompt_empty');
  assert.equal(opening.length, 0);
});

test('an adapter that the server does not have is refused by name', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [1, 2])] });
  await engine.connect(WHERE);
  const named = /** @type {any} */ ({ ...request(), adapter: 'law' });
  await refused(engine.reply(named, () => {}, 1), 'unknown_adapter');
});

test('a prompt that leaves no room is refused before anything is sent', async () => {
  const { engine } = engineOf({ models: [modelOf(() => Array(manifest.maxContext + 1).fill(1))] });
  await engine.connect(WHERE);
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 1), 'prompt_too_long');
});

test('a removed model is closed first', async () => {
  const model = modelOf(() => []);
  const { engine } = engineOf({ models: [model] });
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  await engine.remove({ digest: manifest.digest });
  assert.equal(model.closed, 1);
});

test('small heads get one worker, large ones two to four', () => {
  assert.deepEqual([shardCount(1e6, 8), shardCount(1e8, 1), shardCount(1e8, 3), shardCount(1e8, 16)], [1, 2, 3, 4]);
});
