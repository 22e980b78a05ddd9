import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostedAdapters } from '../../src/crypto/hosted.js';
import { correcting } from '../../src/crypto/correcting.js';
import { keyringHere } from './fixtures.js';
import { HIDDEN, HOST, PretendedHost, refusal } from './pretended_host.js';

const STATE = new Float32Array(HIDDEN).fill(1);
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** @param {import('./pretended_host.js').Otherwise} [otherwise] */
async function rig(otherwise) {
  const host = new PretendedHost(otherwise);
  /** @type {any[]} */
  const asked = [];
  const keyring = keyringHere({ asked });
  const where = { host: HOST, token: null, hiddenSize: HIDDEN };
  const hosted = await HostedAdapters.open(where, { keyring, means: host.means });
  const settled = async () => {
    for (let i = 0; i < 50; i++) await turn();
  };
  const count = (/** @type {string} */ type) => asked.filter((question) => question.type === type).length;
  return { host, hosted, keyring, settled, count };
}

/** @param {HostedAdapters} hosted @param {number} states @param {number} [which] */
async function replied(hosted, states, which = 0) {
  const reply = await hosted.use(hosted.available[which]);
  for (let i = 0; i < states; i++) await reply.correct(STATE);
  return reply;
}

/** @param {PretendedHost} host @param {string} path */
const bodies = (host, path) => host.of(path).map(({ body }) => Buffer.from(body).toString('hex'));

test('every reply has keys and a session of its own, made while the one before goes on', async () => {
  const { host, hosted, settled, count } = await rig();
  for (let i = 0; i < 3; i++) {
    const before = host.of('/key').length;
    (await replied(hosted, 3)).end();
    await settled();
    // The first reply makes its own and the next one's.
    assert.equal(host.of('/key').length, before + (i ? 1 : 2));
  }
  const keys = bodies(host, '/key');
  assert.equal(new Set(keys.map((body) => body.slice(32))).size, 4);
  const sessions = host.of('/evaluate').map(({ body }) => body[0]);
  assert.deepEqual(sessions, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
  assert.deepEqual([count('generate'), count('forget')], [4, 3]);
});

test('the keys of the next reply wait until the first token of this one was chosen', async () => {
  const { host, hosted, settled } = await rig();
  const reply = await replied(hosted, 1);
  await settled();
  assert.equal(host.of('/session').length, 1);
  await reply.correct(STATE);
  await settled();
  assert.equal(host.of('/session').length, 2);
});

test('a reply that was not ended is, when the next one begins', async () => {
  const { hosted, count, settled } = await rig();
  await replied(hosted, 1);
  await replied(hosted, 1);
  await settled();
  assert.equal(count('forget'), 1);
});

test('the host is told of a session that ended with what is asked next', async () => {
  const { host, hosted, settled } = await rig();
  (await replied(hosted, 2)).end();
  await settled();
  assert.equal(host.of('/end').length, 0);
  await replied(hosted, 2);
  await settled();
  assert.deepEqual(bodies(host, '/end'), ['01'.repeat(16)]);
});

test('keys that could not be made ahead are made when they are needed, which says what is the matter', async () => {
  let down = true;
  const { host, hosted, settled } = await rig(({ path }, count) =>
    path.endsWith('/session') && count > 1 && down ? refusal('unknown_adapter', 404) : null);
  (await replied(hosted, 2)).end();
  await settled();
  await assert.rejects(replied(hosted, 1), { code: 'unknown_adapter' });
  down = false;
  await replied(hosted, 1);
  assert.equal(host.of('/evaluate').length, 3);
});

test('keys under way are waited for two seconds, then others are made and those given up', async () => {
  const { host, hosted, settled, count } = await rig(({ path }, count) =>
    path.endsWith('/session') && count === 2 ? 'never' : null);
  (await replied(hosted, 2)).end();
  await settled();
  const next = replied(hosted, 1);
  await settled();
  for (const late of host.late.filter(({ seconds }) => seconds === 2)) late.end();
  await next;
  assert.equal(host.of('/session').length, 3);
  assert.equal(count('generate'), 2);
});

test('another adapter of the host gives up the keys that were made ahead for the first', async () => {
  const { hosted, settled, count } = await rig();
  for (let i = 0; i < 20; i++) {
    (await replied(hosted, 2, i % 2)).end();
    await settled();
  }
  // At most those of one next reply are held: there is room for few sets.
  assert.ok(count('generate') - count('forget') <= 1);
});

test('a close forgets all keys, tells the host, and nothing can be asked of them any more', async () => {
  const { host, hosted, settled } = await rig();
  const reply = await replied(hosted, 2);
  await settled();
  hosted.close();
  await settled();
  assert.equal(host.of('/end').length, 2);
  // The same page may go on: with other keys.
  await reply.correct(STATE);
  assert.equal(host.of('/key').length, 3);
});

test('a worker that dies ends the reply in words, and the next reply has another one', async () => {
  const { hosted, keyring } = await rig();
  const reply = await replied(hosted, 1);
  /** @type {any} */ (keyring)._worker.onerror();
  await assert.rejects(reply.correct(STATE), { code: 'encryption_unavailable' });
  await replied(hosted, 1);
});

test('every state that is asked for is corrected once, whatever a step brought', async () => {
  /** @type {any[]} */
  const seen = [];
  const reply = /** @type {any} */ ({
    correct: async (/** @type {Float32Array} */ hidden, /** @type {AbortSignal} */ signal) => {
      seen.push([hidden[0], signal]);
      return hidden.map((value) => value + 1);
    },
  });
  const { signal } = new AbortController();
  /** @type {number[]} */
  const chose = [];
  const sequence = {
    reachable: false, eachRow: true, maxContext: async () => 7, chose: (/** @type {number} */ seconds) => chose.push(seconds),
    extend: async () => ({ hidden: Float32Array.of(4), rows: 3, drafted: 2, compute: 1, queue: 1, wire: 1 }),
  };
  const adapted = correcting(sequence, reply);
  assert.deepEqual([adapted.reachable, adapted.eachRow, await adapted.maxContext({ signal })], [false, true, 7]);
  const extended = await adapted.extend([1], { signal });
  assert.deepEqual([extended.hidden[0], extended.rows, extended.drafted], [5, 3, 2]);
  adapted.chose?.(3);
  assert.deepEqual([seen, chose], [[[4, signal]], [3]]);
});
