import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SCALED_B } from '../../src/crypto/adapter.js';
import { HostedAdapters } from '../../src/crypto/hosted.js';
import { MAX_REKEYS, MAX_STATE } from '../../src/crypto/reply.js';
import { keyringHere } from './fixtures.js';
import { HIDDEN, HOST, PretendedHost, RANK, json, octets, opened, real, refusal, replyOf } from './pretended_host.js';

/** @typedef {import('./pretended_host.js').Otherwise} Otherwise */

const WHERE = { host: HOST, token: 'a-token-of-16-bytes', hiddenSize: HIDDEN };
const STATE = Float32Array.from({ length: HIDDEN }, (_, i) => i / 8);

/** @param {PretendedHost} host @param {any[]} [asked] of the worker */
const open = (host, asked = []) =>
  HostedAdapters.open(WHERE, { keyring: keyringHere({ asked }), means: host.means });

/** @param {PretendedHost} host @param {{states?: number, signal?: AbortSignal}} [how] */
async function corrected(host, { states = 1, signal } = {}) {
  const hosted = await open(host);
  const reply = await hosted.use(hosted.available[0], signal);
  const made = [];
  for (let i = 0; i < states; i++) made.push(await reply.correct(STATE, signal));
  return made;
}

test('a host is asked in order, with the token, and a state of which it knows nothing comes back corrected', async () => {
  const host = new PretendedHost();
  // A product of zeros: nothing is added.
  assert.deepEqual(await corrected(host, { states: 2 }), [STATE, STATE]);
  const paths = host.asked.map(({ path }) => path.split('/').at(-1));
  assert.deepEqual(paths.slice(0, 5), ['', 'b', 'session', 'key', 'evaluate']);
  assert.ok(host.asked.every(({ headers }) => headers.Authorization === 'Bearer a-token-of-16-bytes'));
  const [key] = host.of('/key');
  assert.deepEqual([...key.body.slice(0, 16)], Array(16).fill(1));
  assert.equal(key.body.length, 16 + 32 + 13_832);
  const numbers = host.of('/evaluate').map(({ body }) => new DataView(body.buffer).getBigUint64(16, true));
  assert.deepEqual(numbers, [1n, 2n]);
});

test('adapters for another hidden size are left out', async () => {
  assert.deepEqual((await open(new PretendedHost())).available.map(({ name }) => name), ['made', 'second']);
});

const packing = (/** @type {Record<string, any>} */ changes) => octets(opened({ packing: changes }));
const INVALID = /** @type {[string, string, (() => Response)][]} */ ([
  ['no list', '', () => new Response('<html>')],
  ['a list in the clear', '', () => json({ adapters: [{ name: 'a', rank: 1, hidden_size: 64, scale: 1, encrypted: false }] })],
  ['no adapter host', '', () => new Response('<html>', { status: 404 })],
  ['an empty B', '/b', () => octets(new Uint8Array())],
  ['a short B', '/b', () => octets(new Uint8Array(4 * HIDDEN * RANK - 1))],
  ['a long B', '/b', () => octets(new Uint8Array(4 * HIDDEN * RANK + 1))],
  ['a B that is no numbers', '/b', () => octets(new Uint8Array(4 * HIDDEN * RANK).fill(255))],
  ['no msgpack', '/session', () => octets(Uint8Array.of(0xc1))],
  ['two values', '/session', () => octets(Uint8Array.of(0xc0, 0xc0))],
  ['a list', '/session', () => octets(Uint8Array.of(0x90))],
  ['a short id', '/session', () => octets(opened({ fields: { session: new Uint8Array(3) } }))],
  ['a long nonce', '/session', () => octets(opened({ fields: { host_nonce: new Uint8Array(33) } }))],
  ['an id that is text', '/session', () => octets(opened({ fields: { session: 'x'.repeat(16) } }))],
  ['no packing', '/session', () => octets(opened({ fields: { packing: null } }))],
  ['a session without end', '/session', () => octets(new Uint8Array(5000))],
  ['another rank', '/session', () => packing({ rank: 3 })],
  ['other chunks', '/session', () => packing({ chunks: 2 })],
  ['a chunk of nothing', '/session', () => packing({ chunk: 0 })],
  ['no whole number', '/session', () => packing({ chunk: real(64.5) })],
  ['a whole number that travels as a fraction', '/session', () => packing({ chunk: real(64) })],
  ['a scale that travels as a whole number', '/session', () => packing({ input_scale: 1024 })],
  ['a scale of nothing', '/session', () => packing({ input_scale: real(0) })],
  ['a scale below nothing', '/session', () => packing({ weight_scale: real(-1) })],
  ['a scale that is no number', '/session', () => packing({ input_scale: real(NaN) })],
  ['a scale without bound', '/session', () => packing({ weight_scale: real(Infinity) })],
  ['a bound that lets a state wrap', '/session', () => packing({ norm_bound: real(2 ** 40) })],
  ['a field more', '/session', () => packing({ other: 1 })],
  ['words after a key', '/key', () => octets(Uint8Array.of(1))],
  ['an empty reply', '/evaluate', () => octets(new Uint8Array())],
  ['a short reply', '/evaluate', () => octets(replyOf().subarray(1))],
  ['a long reply', '/evaluate', () => octets(new Uint8Array(replyOf().length + 1))],
  ['a very long reply', '/evaluate', () => octets(new Uint8Array(1 << 20))],
  ['a reply of zeros without a header', '/evaluate', () => octets(new Uint8Array(replyOf().length))],
  ['residues beyond the modulus', '/evaluate', () => octets(replyOf(255))],
]);

for (const [name, path, answer] of INVALID) {
  test(`an answer that is not what was agreed is not used: ${name}`, async () => {
    const host = new PretendedHost((asked) => (asked.path === (path && `/made${path}`) ? answer() : null));
    await assert.rejects(corrected(host), (/** @type {any} */ error) => /^adapter_(host|list)_invalid$/.test(error.code));
    assert.equal(host.waits.length, 0);
  });
}

test('a B out of all proportion is refused before anything is encrypted', async () => {
  for (const value of [3e38, -2.1 * MAX_SCALED_B]) {
    const b = new Uint8Array(new Float32Array(HIDDEN * RANK).fill(value).buffer);
    const host = new PretendedHost(({ path }) => (path.endsWith('/b') ? octets(b) : null));
    await assert.rejects(corrected(host), { code: 'adapter_host_invalid', message: /scale \* B/ });
    assert.deepEqual(host.asked.map(({ path }) => path), ['', '/made/b']);
  }
});

test('no product that a host makes up decides whether the reply goes on', async () => {
  const scales = { input_scale: real(2 ** -90), weight_scale: real(2 ** -90) };
  const b = new Uint8Array(new Float32Array(HIDDEN * RANK).fill(2 * MAX_SCALED_B).buffer);
  for (const byte of [1, 60, 128, 254]) {
    const host = new PretendedHost(({ path }) => {
      if (path.endsWith('/b')) return octets(b);
      if (path.endsWith('/session')) return packing(scales);
      return path.endsWith('/evaluate') ? octets(replyOf(byte)) : null;
    });
    const [state] = await corrected(host);
    assert.ok(state.every((value) => Math.abs(value) === MAX_STATE), `${byte}`);
  }
});

test('a host cannot search for the norm of a state with one bound for each session', async () => {
  const host = new PretendedHost(({ path }, count) => {
    if (path.endsWith('/session')) return packing({ norm_bound: real(512 / count) });
    return path.endsWith('/evaluate') ? refusal('unknown_session', 404) : null;
  });
  await assert.rejects(corrected(host), { code: 'adapter_host_invalid', message: /another packing/ });
  assert.deepEqual(['/session', '/key', '/evaluate'].map((path) => host.of(path).length), [2, 1, 1]);
});

test('a state that is longer than the bound ends the reply and is not sent', async () => {
  const host = new PretendedHost(({ path }) => (path.endsWith('/session') ? packing({ norm_bound: real(1) }) : null));
  await assert.rejects(corrected(host), { code: 'adapter_out_of_range', message: /activation-rms/ });
  assert.equal(host.of('/evaluate').length, 0);
});

for (const conflicts of [1, MAX_REKEYS, 100]) {
  test(`a session that is lost is opened again with new keys, at most ${MAX_REKEYS} times (${conflicts})`, async () => {
    const host = new PretendedHost(({ path }, count) =>
      path.endsWith('/key') && count <= conflicts ? refusal('key_conflict', 409) : null);
    const made = corrected(host);
    if (conflicts > MAX_REKEYS) await assert.rejects(made, { code: 'adapter_host_unstable' });
    else await made;
    const keys = host.of('/key').map(({ body }) => Buffer.from(body).toString('hex'));
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(keys.length, 1 + Math.min(conflicts, MAX_REKEYS));
  });
}

test('a query whose answer was lost is sent again with the same bytes', async () => {
  const host = new PretendedHost(({ path }, count) =>
    path.endsWith('/evaluate') && count < 3 ? new TypeError('Failed to fetch') : null);
  assert.deepEqual(await corrected(host), [STATE]);
  const queries = host.of('/evaluate').map(({ body }) => Buffer.from(body).toString('hex'));
  assert.deepEqual([queries.length, new Set(queries).size], [3, 1]);
});

test('a host that is full is waited for as long as it says, and no longer than 15 s', async () => {
  const full = new PretendedHost(({ path }, count) =>
    path.endsWith('/session') && count < 3 ? refusal('too_many_sessions', 503, true, { 'Retry-After': '2' }) : null);
  await corrected(full);
  assert.deepEqual(full.waits, [2, 2]);
  const spent = new PretendedHost(({ path }) =>
    path.endsWith('/evaluate') ? refusal('workers_spent', 429, true, { 'Retry-After': '60' }) : null);
  await assert.rejects(corrected(spent), { code: 'workers_spent', message: /says workers_spent/ });
  assert.deepEqual(spent.waits, []);
});

test('a host that nobody reaches ends the reply within 15 s, and says what to look at', async () => {
  const host = new PretendedHost(({ path }) => (path.endsWith('/evaluate') ? new TypeError('Failed to fetch') : null));
  await assert.rejects(corrected(host), { code: 'adapter_host_unreachable', message: /the reply stops.*--allow-origin/ });
  assert.ok(host.now <= 15);
  for (const status of [502, 503, 504]) {
    const between = new PretendedHost(({ path }) => (path.endsWith('/key') ? new Response('<html>', { status }) : null));
    await assert.rejects(corrected(between), { code: 'adapter_host_unreachable' });
  }
});

test('a page over https is told that it may not ask a host over http', async () => {
  const { location } = globalThis;
  const page = { protocol: 'https:', origin: 'https://page' };
  Object.defineProperty(globalThis, 'location', { value: page, configurable: true });
  try {
    await assert.rejects(corrected(new PretendedHost(() => new TypeError('Failed to fetch'))), {
      code: 'adapter_host_unreachable', message: /over https may not.*--allow-origin https:\/\/page/,
    });
  } finally {
    Object.defineProperty(globalThis, 'location', { value: location, configurable: true });
  }
});

test('a host that never answers is given up', async () => {
  const host = new PretendedHost(({ path }) => (path.endsWith('/evaluate') ? 'never' : null));
  const made = corrected(host);
  let ended = false;
  void made.catch(() => (ended = true));
  while (!ended) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const late of [...host.late]) late.end();
  }
  await assert.rejects(made, { code: 'adapter_host_unreachable', message: /no answer in time/ });
  assert.ok(host.now <= 20 + 15, `${host.now} s`);
});

test('a budget that is spent ends the reply in the words of the host', async () => {
  const host = new PretendedHost(({ path }, count) =>
    path.endsWith('/evaluate') && count > 1 ? refusal('budget_exhausted', 403) : null);
  await assert.rejects(corrected(host, { states: 3 }), { code: 'budget_exhausted', message: /refuses: says budget_exhausted/ });
  assert.equal(host.of('/evaluate').length, 2);
});

test('what a host says never reads as something that the page acts on', async () => {
  const codes = ['not_ready', 'model_changed', 'server_unreachable', 'ends_failed', 'store_failed', 'context_full', 'token_invalid'];
  for (const code of codes) {
    const host = new PretendedHost(({ path }) => (path.endsWith('/session') ? refusal(code, 400) : null));
    await assert.rejects(corrected(host), { code: 'adapter_host_refused' }, code);
  }
  for (const code of ['unauthorized', 'device_revoked']) {
    const host = new PretendedHost(() => refusal(code, 401));
    await assert.rejects(corrected(host), { code: 'adapter_host_unauthorized', message: /pair this browser with the host/ });
  }
});

test('a stop ends the wait for a host, and the number that may be taken is not used again', async () => {
  const stop = new AbortController();
  const host = new PretendedHost(({ path }, count) => (path.endsWith('/evaluate') && count === 1 ? 'never' : null));
  const hosted = await open(host);
  const reply = await hosted.use(hosted.available[0]);
  const stopped = reply.correct(STATE, stop.signal);
  while (!host.of('/evaluate').length) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await assert.rejects(stopped, { code: 'cancelled' });
  assert.deepEqual(await reply.correct(STATE), STATE);
  assert.equal(host.of('/session').length, 2);
});
