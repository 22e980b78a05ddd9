import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpTransport } from '../../src/transport/http.js';
import { FakeTime, PING, PONG, settled } from './fakes.js';

const NEVER = new AbortController().signal;
const HOW = { timeout: 5, signal: NEVER };

/** @param {(url: string, options: any) => any} answer @param {any} [options] */
function transportOf(answer, options = {}) {
  const time = new FakeTime();
  /** @type {any[]} */
  const requests = [];
  const fetch = /** @type {any} */ (
    async (/** @type {string} */ url, /** @type {any} */ how) => {
      requests.push({ url, ...how });
      return answer(url, how);
    }
  );
  const given = { url: 'http://server/', token: 'secret', maxFrame: 100, fetch, after: time.after };
  return { transport: new HttpTransport({ ...given, ...options }), requests, time };
}

/** @param {any} body @param {any} [options] */
const told = (body, options) => new Response(body, options);

/** @param {string} code @param {number} status @param {Record<string, string>} [headers] @param {boolean} [retryable] */
function refusing(code, status, headers = {}, retryable = false) {
  const body = JSON.stringify({ error: { code, message: 'Words.', retryable } });
  return () => told(body, { status, headers });
}

test('a frame is posted with the token and answered by the body', async () => {
  const { transport, requests, time } = transportOf(() => told(PONG));
  assert.deepEqual(await transport.exchange(PING, HOW), PONG);
  const [{ url, method, headers, body, redirect, credentials }] = requests;
  assert.deepEqual([url, method], ['http://server/api/v1/split/forward', 'POST']);
  assert.deepEqual(headers, {
    'Content-Type': 'application/vnd.gatelink.split.v1',
    Authorization: 'Bearer secret',
  });
  assert.deepEqual([body, redirect, credentials], [PING, 'error', 'omit']);
  assert.equal(time.pending, 0);
});

test('a refused frame is answered by a frame too, whatever the status', async () => {
  const { transport } = transportOf(() => told(PONG, { status: 409 }));
  assert.deepEqual(await transport.exchange(PING, HOW), PONG);
});

test('an answer in parts is put together and bounded', async () => {
  const parts = (/** @type {number} */ count) =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(PONG.slice(0, 5));
        controller.enqueue(PONG.slice(5));
        for (let i = 0; i < count; i++) controller.enqueue(new Uint8Array(60));
        controller.close();
      },
    });
  const { transport } = transportOf(() => told(parts(0)));
  assert.deepEqual(await transport.exchange(PING, HOW), PONG);
  const long = transportOf(() => told(parts(2))).transport;
  await assert.rejects(long.exchange(PING, HOW), { code: 'answer_too_large' });
  const allowed = transportOf(() => told(parts(2))).transport;
  allowed.accept(1000);
  assert.equal((await allowed.exchange(PING, HOW)).length, PONG.length + 120);
});

test('a refusal in JSON keeps its code, its words and the delay', async () => {
  const { transport } = transportOf(refusing('overloaded', 503, { 'Retry-After': '7' }, true));
  await assert.rejects(transport.exchange(PING, HOW), {
    code: 'overloaded', message: 'Words.', retryable: true, retryAfter: 7,
  });
});

for (const [code, status] of /** @type {const} */ ([['unauthorized', 401], ['model_changed', 409]])) {
  test(`${code} is told by its code`, async () => {
    await assert.rejects(transportOf(refusing(code, status)).transport.exchange(PING, HOW), { code });
  });
}

test('a page of something in between is a lost connection, any other is no split server', async () => {
  for (const [status, code] of [[502, 'connection_lost'], [200, 'not_a_split_server'], [404, 'not_a_split_server']]) {
    const { transport } = transportOf(() => told('<html>', { status }));
    await assert.rejects(transport.exchange(PING, HOW), { code });
  }
});

test('a refusal in JSON shows nothing that a screen would act on', async () => {
  const body = JSON.stringify({ error: { code: 'overloaded', message: `a\x1b[2J\u202e${'x'.repeat(5000)}` } });
  const { transport } = transportOf(() => told(body, { status: 503 }), { maxFrame: 10_000 });
  await assert.rejects(transport.exchange(PING, HOW), { message: `a [2J ${'x'.repeat(994)}`, retryable: false });
});

for (const body of ['null', '{"error": {"code": "Not a code", "message": "m"}}', '[]', '{"error": 1}', '{"error": {"code": 1, "message": "m"}}', '{"error": null}']) {
  test(`${body} is no refusal`, async () => {
    const { transport } = transportOf(() => told(body, { status: 400 }));
    await assert.rejects(transport.exchange(PING, HOW), { code: 'not_a_split_server' });
  });
}

test('a request that fails is an unreachable server at first, then a lost connection', async () => {
  let fails = true;
  const { transport } = transportOf(() => {
    if (fails) throw new TypeError('Failed to fetch');
    return told(PONG);
  });
  await assert.rejects(transport.exchange(PING, HOW), { code: 'server_unreachable' });
  fails = false;
  await transport.exchange(PING, HOW);
  fails = true;
  await assert.rejects(transport.exchange(PING, HOW), { code: 'connection_lost' });
});

/** A request that only its signal ends. @param {string} _ @param {{signal: AbortSignal}} how */
function hanging(_, { signal }) {
  return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

test('silence is told after the timeout, and the request is broken off', async () => {
  const { transport, time, requests } = transportOf(hanging);
  const late = assert.rejects(transport.exchange(PING, HOW), { code: 'connection_lost' });
  await settled();
  await time.pass(5);
  await late;
  assert.equal(requests[0].signal.aborted, true);
});

test('an exchange can be aborted while it runs and before it begins', async () => {
  const { transport, time, requests } = transportOf(hanging);
  const stop = new AbortController();
  const how = { timeout: 5, signal: stop.signal };
  const stopped = assert.rejects(transport.exchange(PING, how), { code: 'cancelled' });
  await settled();
  stop.abort();
  await stopped;
  await assert.rejects(transport.exchange(PING, how), { code: 'cancelled' });
  assert.deepEqual([requests.length, time.pending], [1, 0]);
});

test('a token that no header can carry is refused without being shown', () => {
  const make = () => transportOf(() => told(PONG), { token: 'two words' });
  assert.throws(make, (/** @type {any} */ error) => {
    assert.equal(error.code, 'token_invalid');
    assert.ok(!error.message.includes('two words'));
    return true;
  });
});
