import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AppError } from '../../src/common/errors.js';
import { EngineClient } from '../../src/engine/client.js';
import { Dispatcher } from '../../src/engine/dispatcher.js';

/** A worker in this thread whose engine is `engine`. */
class LocalWorker {
  /** @param {Record<string, any>} engine */
  constructor(engine) {
    /** @type {any} */
    this.onmessage = null;
    this.onerror = () => {};
    this.terminated = false;
    this._dispatcher = new Dispatcher(engine, Object.keys(engine), (message) => {
      const data = structuredClone(message);
      queueMicrotask(() => this.onmessage?.({ data }));
    });
  }

  /** @param {any} message */
  postMessage(message) {
    void this._dispatcher.receive(structuredClone(message));
  }

  terminate() {
    this.terminated = true;
  }

  /** @param {any} notice */
  notify(notice) {
    this._dispatcher.notify(notice);
  }
}

/** @param {Record<string, any>} engine */
function started(engine) {
  const worker = new LocalWorker(engine);
  return { worker, client: new EngineClient({ spawn: () => /** @type {any} */ (worker) }) };
}

test('a call is answered with what the engine returns', async () => {
  const { client } = started({ models: async () => [{ name: 'm' }] });
  assert.deepEqual(await client.models(), [{ name: 'm' }]);
});

test('a typed error crosses with its code and message', async () => {
  const { client } = started({ models: () => Promise.reject(new AppError('storage_full', 'make room')) });
  await assert.rejects(client.models(), (error) => {
    assert(error instanceof AppError);
    assert.deepEqual([error.code, error.message], ['storage_full', 'make room']);
    return true;
  });
});

test('a text that takes too long to become tokens ends the worker, by name', async () => {
  const worker = new LocalWorker({ prepare: () => new Promise(() => {}) });
  const client = new EngineClient({ spawn: () => /** @type {any} */ (worker), seconds: 0.02 });
  const waiting = client.prepare();
  worker.notify({ type: 'tokenizing', busy: true });
  await assert.rejects(waiting, { code: 'text_too_costly' });
  assert(worker.terminated);
  await assert.rejects(client.models(), { code: 'engine_failed' });
});

test('a text that became tokens in time ends nothing, and the page hears nothing of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { worker, client } = started({ models: async () => [] });
  /** @type {any[]} */
  const notices = [];
  client.onNotice = (notice) => notices.push(notice);
  for (const busy of [true, false]) worker.notify({ type: 'tokenizing', busy });
  assert.deepEqual(await client.models(), []);
  t.mock.timers.tick(60_000);
  assert.deepEqual([notices, worker.terminated], [[], false]);
});

test('an error without a code tells nothing of its message', async () => {
  const { client } = started({ models: () => Promise.reject(new TypeError('the secret text')) });
  await assert.rejects(client.models(), (error) => {
    assert(error instanceof AppError);
    assert.equal(error.code, 'internal_error');
    assert(!error.message.includes('secret'));
    return true;
  });
});

test('tokens come in order and before the end of their reply', async () => {
  const { client } = started({
    reply: async (/** @type {any} */ request, /** @type {(token: any) => void} */ event) => {
      for (const text of request.messages) event({ text });
      return { reason: 'eos' };
    },
  });
  /** @type {string[]} */
  const seen = [];
  const request = /** @type {any} */ ({ messages: ['a', 'b', 'c'] });
  const { done } = client.reply(request, { onToken: (token) => seen.push(token.text) });
  assert.equal((await done).reason, 'eos');
  assert.deepEqual(seen, ['a', 'b', 'c']);
});

test('stop names the reply that it stops', async () => {
  /** @type {((id: number) => void)} */
  let stopped = () => {};
  const asked = new Promise((resolve) => (stopped = resolve));
  const { client } = started({
    reply: async (/** @type {any} */ _r, /** @type {any} */ _e, /** @type {number} */ id) => ({ id, stop: await asked }),
    stop: (/** @type {{reply: number}} */ { reply }) => stopped(reply),
  });
  const reply = client.reply(/** @type {any} */ ({}));
  reply.stop();
  const end = /** @type {any} */ (await reply.done);
  assert.equal(end.id, end.stop);
});

test('a worker that dies rejects what waits for it and every later call', async () => {
  const { client, worker } = started({ models: () => new Promise(() => {}) });
  const waiting = client.models();
  worker.onerror();
  for (const call of [waiting, client.models()]) {
    await assert.rejects(call, (error) => error instanceof AppError && error.code === 'engine_failed');
  }
  assert(worker.terminated);
});

test('a method that is not offered is refused by name', async () => {
  const { client } = started({});
  await assert.rejects(client.models(), (error) => error instanceof AppError && error.code === 'unknown_method');
});

test('notices reach the page without a call', async () => {
  const { client, worker } = started({});
  const notice = { type: 'reconnecting', reason: 'lost', attempt: 1, delay: 0.2 };
  const seen = new Promise((resolve) => (client.onNotice = resolve));
  worker.notify(notice);
  assert.deepEqual(await seen, notice);
});
