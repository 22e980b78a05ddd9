import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpReader } from '../../../src/weights/download/http_reader.js';
import { encode, noise } from '../offers.js';

/**
 * @typedef {{status?: number, headers?: Record<string, string>, parts?: string[], endless?: boolean}} Answer
 */

/**
 * A reader over answers given one by one, and the requests that it made.
 * @param {Answer[]} answers
 * @param {object} [options]
 */
function reading(answers, options = {}) {
  /** @type {{url: string, init: any}[]} */
  const requests = [];
  const fetch = async (/** @type {any} */ url, /** @type {any} */ init) => {
    requests.push({ url, init });
    const { status = 206, headers = {}, parts = [], endless = false } = answers.shift() ?? {};
    const body = new ReadableStream({
      start(controller) {
        parts.forEach((part) => controller.enqueue(encode(part)));
        if (!endless) controller.close();
        init.signal.addEventListener(
          'abort',
          () => endless && controller.error(new DOMException('', 'AbortError')),
        );
      },
    });
    return new Response(body, { status, headers });
  };
  const read = httpReader({
    url: 'http://server/',
    token: 'secret',
    fetch: /** @type {any} */ (fetch),
    ...options,
  });
  return { read, requests };
}

const RANGE = { 'Content-Range': 'bytes 10-15/100' };

test('a range is asked for with the token, past every cache, and joined from its parts', async () => {
  const { read, requests } = reading([{ headers: RANGE, parts: ['ab', 'cde', 'f'] }]);
  assert.deepEqual(await read('x.bin', 10, 15), encode('abcdef'));
  const [{ url, init }] = requests;
  assert.equal(url, 'http://server/weights/x.bin');
  assert.deepEqual(init.headers, { Range: 'bytes=10-15', Authorization: 'Bearer secret' });
  assert.deepEqual([init.cache, init.redirect], ['no-store', 'error']);
});

test('a body that can be read into a buffer of ours is, across its parts and to its end', async () => {
  const whole = noise(700_000);
  let at = 0;
  const body = new ReadableStream({
    type: 'bytes',
    pull(controller) {
      if (at === whole.length) controller.close();
      else controller.enqueue(whole.slice(at, (at = Math.min(whole.length, at + 300_000))));
      if (at === whole.length) controller.byobRequest?.respond(0);
    },
  });
  const headers = { 'Content-Range': `bytes 0-${whole.length - 1}/*` };
  const answer = new Response(body, { status: 206, headers });
  const read = httpReader({ url: 'http://server', token: null, fetch: async () => answer });
  assert.deepEqual(await read('x.bin', 0, whole.length - 1), whole);
});

test('without a token no credential is sent', async () => {
  const { read, requests } = reading([{ headers: RANGE, parts: ['abcdef'] }], { token: null });
  await read('x.bin', 10, 15);
  assert.deepEqual(requests[0].init.headers, { Range: 'bytes=10-15' });
});

test('one buffer serves all reads', async () => {
  const { read } = reading([
    { headers: RANGE, parts: ['abcdef'] },
    { headers: RANGE, parts: ['ghijkl'] },
  ]);
  const first = await read('x.bin', 10, 15);
  const second = await read('x.bin', 10, 15);
  assert.equal(first.buffer, second.buffer);
});

test('a whole file may come without a range when it is all that was asked for', async () => {
  const { read } = reading([{ status: 200, headers: { 'Content-Length': '3' }, parts: ['abc'] }]);
  assert.deepEqual(await read('x.json', 0, 2), encode('abc'));
});

const error = (/** @type {string} */ code, retryable = false) =>
  JSON.stringify({ error: { code, message: 'why', retryable } });

/** @type {[string, Answer, {code: string, retryable: boolean, retryAfter?: number}][]} */
const REFUSED = [
  [
    'a body that ends early',
    { headers: RANGE, parts: ['abc'] },
    { code: 'connection_lost', retryable: true },
  ],
  [
    'a body that is too long',
    { headers: RANGE, parts: ['abcdefg'] },
    { code: 'download_failed', retryable: false },
  ],
  [
    'another range',
    { headers: { 'Content-Range': 'bytes 0-5/100' } },
    { code: 'download_failed', retryable: false },
  ],
  ['no range', { headers: {} }, { code: 'download_failed', retryable: false }],
  [
    'a compressed body',
    { headers: { ...RANGE, 'Content-Encoding': 'gzip' }, parts: ['abcdef'] },
    { code: 'download_failed', retryable: false },
  ],
  [
    'the whole of a larger file',
    { status: 200, headers: { 'Content-Length': '100' } },
    { code: 'download_failed', retryable: false },
  ],
  ['no token', { status: 401, parts: [error('token_missing')] }, { code: 'unauthorized', retryable: false }],
  [
    'a code that is no code',
    { status: 400, parts: [error('Not a code! \u0007')] },
    { code: 'not_a_split_server', retryable: false },
  ],
  ['an unknown page', { status: 404, parts: ['<html>'] }, { code: 'not_a_split_server', retryable: false }],
  ['a range behind the end', { status: 416 }, { code: 'weights_changed', retryable: false }],
  [
    'changed weights',
    { status: 503, parts: [error('weights_changed')] },
    { code: 'weights_changed', retryable: false },
  ],
  [
    'a busy server',
    { status: 503, headers: { 'Retry-After': '7' }, parts: [error('overloaded', true)] },
    { code: 'overloaded', retryable: true, retryAfter: 7 },
  ],
  [
    'a proxy with too many requests',
    { status: 429, headers: { 'Retry-After': '3' } },
    { code: 'connection_lost', retryable: true, retryAfter: 3 },
  ],
  ['a broken proxy', { status: 502, parts: ['<html>'] }, { code: 'connection_lost', retryable: true }],
  [
    'a refusal without end',
    { status: 500, parts: Array(70).fill('x'.repeat(1024)), endless: true },
    { code: 'connection_lost', retryable: true },
  ],
];

for (const [name, answer, expected] of REFUSED) {
  test(`${name}: ${expected.code}`, async () => {
    await assert.rejects(reading([answer]).read('x.bin', 10, 15), expected);
  });
}

test('a server that falls silent is given up', async () => {
  const { read } = reading([{ headers: RANGE, parts: ['abc'], endless: true }], { stallSeconds: 0.01 });
  await assert.rejects(read('x.bin', 10, 15), { code: 'connection_lost', retryable: true });
});

test('a network that fails is a lost connection, an aborted read a pause', async () => {
  const failing = /** @type {any} */ (async () => Promise.reject(new TypeError('failed to fetch')));
  const read = httpReader({ url: 'http://server', token: null, fetch: failing });
  await assert.rejects(read('x.bin', 0, 1), { code: 'connection_lost', retryable: true });
  const pausing = new AbortController();
  const { read: slow } = reading([{ headers: RANGE, parts: ['abc'], endless: true }]);
  const started = slow('x.bin', 10, 15, pausing.signal);
  pausing.abort();
  await assert.rejects(started, { code: 'paused' });
  await assert.rejects(slow('x.bin', 10, 15, pausing.signal), { code: 'paused' });
});

test('it is told what has come, from before the first byte on', async () => {
  const { read } = reading([{ headers: RANGE, parts: ['ab', 'cde', 'f'] }]);
  /** @type {number[]} */
  const told = [];
  await read('x.bin', 10, 15, undefined, (done) => told.push(done));
  assert.deepEqual(told, [0, 2, 5, 6]);
});

const rest = (/** @type {number} */ first) => ({ 'Content-Range': `bytes ${first}-15/100` });

test('what was cut goes on where it stopped, and is whole then', async () => {
  const { read, requests } = reading([
    { headers: RANGE, parts: ['ab'] },
    { headers: rest(12), parts: ['cd'] },
    { headers: rest(14), parts: ['ef'] },
  ]);
  for (const _ of [1, 2]) await assert.rejects(read('x.bin', 10, 15), { code: 'connection_lost' });
  /** @type {number[]} */
  const told = [];
  assert.deepEqual(await read('x.bin', 10, 15, undefined, (done) => told.push(done)), encode('abcdef'));
  assert.deepEqual(requests.map(({ init }) => init.headers.Range), ['bytes=10-15', 'bytes=12-15', 'bytes=14-15']);
  assert.deepEqual(told, [4, 6]);
});

test('what was paused goes on where it stopped', async () => {
  const { read, requests } = reading([
    { headers: RANGE, parts: ['abcd'], endless: true },
    { headers: rest(14), parts: ['ef'] },
  ]);
  const pausing = new AbortController();
  const paused = read('x.bin', 10, 15, pausing.signal, (done) => done === 4 && pausing.abort());
  await assert.rejects(paused, { code: 'paused' });
  assert.deepEqual(await read('x.bin', 10, 15), encode('abcdef'));
  assert.equal(requests[1].init.headers.Range, 'bytes=14-15');
});

test('another range, a refusal and a whole one begin anew', async () => {
  const other = { headers: { 'Content-Range': 'bytes 16-21/100' }, parts: ['ghijkl'] };
  const cut = { headers: RANGE, parts: ['ab'] };
  const whole = { headers: RANGE, parts: ['abcdef'] };
  const { read, requests } = reading([cut, other, cut, { status: 416 }, whole, whole]);
  await assert.rejects(read('x.bin', 10, 15), { code: 'connection_lost' });
  assert.deepEqual(await read('x.bin', 16, 21), encode('ghijkl'));
  await assert.rejects(read('x.bin', 10, 15), { code: 'connection_lost' });
  await assert.rejects(read('x.bin', 10, 15), { code: 'weights_changed' });
  for (const _ of [1, 2]) assert.deepEqual(await read('x.bin', 10, 15), encode('abcdef'));
  assert.deepEqual(requests.map(({ init }) => init.headers.Range.slice(6)),
    ['10-15', '16-21', '10-15', '12-15', '10-15', '10-15']);
});

test('a proxy that takes the rest for the whole brings the whole again', async () => {
  const { read } = reading([
    { headers: { 'Content-Range': 'bytes 0-5/6' }, parts: ['xx'] },
    { status: 200, headers: { 'Content-Length': '6' }, parts: ['abcdef'] },
  ]);
  await assert.rejects(read('x.bin', 0, 5), { code: 'connection_lost' });
  assert.deepEqual(await read('x.bin', 0, 5), encode('abcdef'));
});
