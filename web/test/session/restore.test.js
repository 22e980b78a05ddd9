import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { decodeServerMessage } from '../../src/protocol/parsing.js';
import { Peer, truth } from './peer.js';
import { Rig } from './rig.js';

/** @param {number} count @param {number} [from] */
const tokensOf = (count, from = 0) => Array.from({ length: count }, (_, i) => from + i);
const PROMPT = tokensOf(60);

/** A server that keeps what it computed. @param {any} [fields] */
function keeping(fields) {
  return Object.assign(new Peer(), { restores: true, maxRows: 512, maxContext: 200 }, fields);
}

/** Of the messages since `from`: what was asked and sent. @param {Rig} rig @param {number} [from] */
function talk(rig, from = 0) {
  return rig.peer.messages.slice(from).map(({ type, start, probe, embeddings }) => {
    if (type === 'step') return ['step', start, embeddings.rows];
    return type === 'restore' ? ['restore', start, probe.known] : [type, probe?.known ?? 0];
  });
}

/** One device has talked, another one begins. @param {any} [options] @param {Peer} [peer] */
async function second(options, peer = keeping()) {
  await new Rig({ peer, nameable: true }).extend(PROMPT);
  const from = peer.messages.length;
  return { rig: new Rig({ peer, nameable: true, ...options }), from };
}

test('a server whose dtype is not known yet is asked once the session is open', async () => {
  const { rig, from } = await second();
  const tokens = [...PROMPT, 7];
  assert.deepEqual(await rig.extend(tokens), truth(tokens));
  assert.deepEqual(talk(rig, from), [['open', 0], ['restore', 0, 60], ['step', 60, 1]]);
  assert.deepEqual([rig.sequence.counters.rowsRestored, rig.sequence.counters.rowsSent], [60, 1]);
});

for (const about of [{ dtype: 'f32' }, { usualDtype: 'f32' }]) {
  test(`a dtype that is known lets the opening ask: ${JSON.stringify(about)}`, async () => {
    const { rig, from } = await second(about);
    const tokens = [...PROMPT, 7];
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    assert.deepEqual(talk(rig, from), [['open', 60], ['step', 60, 1]]);
    assert.equal(rig.sequence.counters.rowsRestored, 60);
  });
}

test('all tokens but the last are asked for, and the last is always sent', async () => {
  const { rig, from } = await second({ dtype: 'f32' });
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual(talk(rig, from), [['open', 59], ['step', 59, 1]]);
});

test('a session opened in another dtype than was likely is asked anew, in its own', async () => {
  const peer = keeping({ dtype: 'bf16' });
  await new Rig({ peer, nameable: true }).extend(PROMPT);
  const rig = new Rig({ peer, nameable: true, usualDtype: 'f32' });
  const from = peer.messages.length;
  await rig.extend([...PROMPT, 7]);
  assert.deepEqual(talk(rig, from), [['open', 60], ['restore', 0, 60], ['step', 60, 1]]);
});

test('few rows are sent without a question', async () => {
  const { rig, from } = await second({ dtype: 'f32' });
  await rig.extend(PROMPT.slice(0, 32));
  await rig.extend([...PROMPT.slice(0, 32), ...tokensOf(32, 90)]);
  assert.deepEqual(talk(rig, from), [['open', 0], ['step', 0, 32], ['step', 32, 32]]);
});

test('a session that was lost is opened with a question, and only what is new is sent', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true });
  await rig.extend(PROMPT);
  rig.peer.sessions.clear();
  const from = rig.peer.messages.length;
  const tokens = [...PROMPT, 7, 8];
  assert.deepEqual(await rig.extend(tokens), truth(tokens));
  assert.deepEqual(talk(rig, from), [['step', 60, 2], ['open', 60], ['step', 60, 2]]);
  assert.deepEqual([rig.sequence.counters.resends, rig.sequence.counters.rowsRestored], [1, 60]);
});

test('a session that was lost when it was asked is opened with a question for all that it held', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true });
  await rig.extend(PROMPT);
  rig.peer.sessions.clear();
  const from = rig.peer.messages.length;
  const tokens = [...PROMPT, ...tokensOf(40, 100)];
  assert.deepEqual(await rig.extend(tokens), truth(tokens));
  assert.deepEqual(talk(rig, from), [['restore', 60, 99], ['open', 60], ['step', 60, 40]]);
});

test('where a lost session held another branch, all that is wanted is asked for', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true });
  await rig.extend(PROMPT);
  rig.peer.sessions.clear();
  const from = rig.peer.messages.length;
  const tokens = [...PROMPT.slice(0, 20), ...tokensOf(60, 100)];
  assert.deepEqual(await rig.extend(tokens), truth(tokens));
  assert.deepEqual(talk(rig, from).map(([type, at]) => [type, at]).slice(1), [['open', 79], ['step', 16]]);
});

test('behind all that a session holds it is asked at fewer places, and where it is cut back at every block', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true });
  await rig.extend(PROMPT);
  await rig.extend([...PROMPT, ...tokensOf(80, 100)]);
  await rig.extend([...PROMPT.slice(0, 10), ...tokensOf(80, 200)]);
  const asked = rig.peer.messages.filter(({ type }) => type === 'restore');
  assert.deepEqual(asked.map(({ probe }) => probe.stride).slice(-2), [64, 16]);
});

test('the way back to an old branch is asked for behind what both have in common', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true });
  await rig.extend(PROMPT);
  const edited = [...PROMPT.slice(0, 10), ...tokensOf(50, 100)];
  await rig.extend(edited);
  const from = rig.peer.messages.length;
  const tokens = [...PROMPT, 7];
  assert.deepEqual(await rig.extend(tokens), truth(tokens));
  assert.deepEqual(talk(rig, from), [['restore', 10, 60], ['step', 60, 1]]);
  assert.equal(rig.sequence.counters.rowsRestored, 50);
});

test('a server that keeps nothing of it is sent everything', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true, dtype: 'f32' });
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual(talk(rig), [['open', 59], ['step', 0, 60]]);
  assert.equal(rig.sequence.counters.rowsRestored, 0);
});

test('a server without the capability is never asked again after its opening', async () => {
  for (const dtype of [null, 'f32']) {
    const rig = new Rig({ peer: keeping({ restores: false }), nameable: true, dtype });
    await rig.extend(PROMPT);
    const tokens = [...PROMPT, ...tokensOf(50, 100)];
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    assert.deepEqual(talk(rig), [['open', dtype ? 59 : 0], ['step', 0, 60], ['step', 60, 50]]);
  }
});

test('of rows that a server may not be told beforehand no name leaves', async () => {
  const { rig, from } = await second({ dtype: 'f32', nameable: false });
  await rig.extend(PROMPT);
  await rig.extend([...PROMPT, ...tokensOf(50, 100)]);
  assert.deepEqual(talk(rig, from), [['open', 0], ['step', 0, 60], ['step', 60, 50]]);
});

test('the salt and the wish to keep nothing go with every opening', async () => {
  const rig = new Rig({ peer: keeping(), nameable: true, cacheSalt: 'salt', cache: 'off', dtype: 'f32' });
  await rig.extend(PROMPT);
  rig.peer.sessions.clear();
  await rig.extend(PROMPT);
  const opened = rig.peer.messages.filter(({ type }) => type === 'open');
  const told = opened.map(({ cacheSalt, cache, probe }) => [cacheSalt, cache, probe]);
  assert.deepEqual(told, [['salt', 'off', null], ['salt', 'off', null]]);
});

/** @param {Uint8Array} answer @param {any} fields */
function changed(answer, fields) {
  return encodeServerMessage({ ...decodeServerMessage(answer, 1 << 20), ...fields });
}

const LIES = /** @type {[string, any][]} */ ([
  ['the digest of another chain', { prefix: new Uint8Array(16) }],
  ['more than was asked for', { cached: 61 }],
  ['another length than its digest has', { cached: 16 }],
]);

for (const [what, fields] of LIES) {
  for (const dtype of [null, 'f32']) {
    test(`a server that claims ${what} is not believed (${dtype ? 'opened' : 'restored'})`, async () => {
      const { rig } = await second({ dtype });
      const kind = dtype ? 'opened' : 'restored';
      rig.fate = () => (answer) =>
        decodeServerMessage(answer, 1 << 20).type === kind ? changed(answer, fields) : answer;
      assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
      assert.deepEqual([rig.sequence.counters.rowsRestored, rig.sequence.counters.rowsSent], [0, 61]);
    });
  }
}

for (const [what, fields] of /** @type {[string, any][]} */ ([
  ['session', { session: 'other' }], ['start', { start: 1 }], ['known', { known: 61 }],
])) {
  test(`an answer to a question with another ${what} is none`, async () => {
    const { rig } = await second();
    let old = true;
    rig.fate = () => (answer) => {
      if (!old || decodeServerMessage(answer, 1 << 20).type !== 'restored') return answer;
      old = false;
      return changed(answer, fields);
    };
    assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
    assert.equal(rig.sequence.counters.rowsRestored, 60);
  });
}

test('answers to other questions only end in an error, and the next message goes', async () => {
  const { rig } = await second();
  rig.fate = () => (answer) =>
    decodeServerMessage(answer, 1 << 20).type === 'restored' ? changed(answer, { start: 5 }) : answer;
  await assert.rejects(rig.extend([...PROMPT, 7]), { code: 'answer_invalid' });
  rig.fate = () => 'works';
  assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
});

for (const fate of /** @type {const} */ (['before', 'after'])) {
  test(`a question whose answer is lost is asked again (${fate})`, async () => {
    const { rig, from } = await second();
    const fates = ['works', fate];
    rig.fate = () => /** @type {any} */ (fates.shift() ?? 'works');
    assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
    assert.equal(talk(rig, from).at(-1)?.[2], 1);
    assert.equal(rig.peer.opened, 2);
  });

  test(`after a question that was broken off the session goes on with what it holds for certain (${fate})`, async () => {
    const rig = new Rig({ peer: keeping(), nameable: true });
    await rig.extend(PROMPT);
    const edited = [...PROMPT.slice(0, 10), ...tokensOf(50, 100)];
    await rig.extend(edited);
    const stop = new AbortController();
    rig.fate = () => {
      stop.abort();
      return fate;
    };
    await assert.rejects(rig.extend([...PROMPT, 7], stop.signal), { code: 'cancelled' });
    rig.fate = () => 'works';
    const from = rig.peer.messages.length;
    const tokens = [...PROMPT.slice(0, 10), 5, 6];
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    assert.deepEqual(talk(rig, from), [['step', 10, 2]]);
    assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
    assert.equal(rig.backend.sessionsOpened, 1);
  });
}

test('a session that is gone when it is asked is opened anew', async () => {
  const { rig } = await second();
  rig.peer.failures = [null, { code: 'unknown_session' }];
  assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
  assert.deepEqual([rig.backend.sessionsOpened, rig.sequence.counters.rowsRestored], [2, 60]);
});

test('a full server is asked again', async () => {
  const { rig } = await second();
  rig.peer.failures = [null, { code: 'overloaded', retryable: true, retryAfter: 4 }];
  assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
  assert.deepEqual([rig.waits, rig.sequence.counters.rowsRestored], [[4], 60]);
});

test('a long conversation is named in parts, between which it can be stopped', async () => {
  const peer = keeping({ maxContext: 4000 });
  const rig = new Rig({ peer, nameable: true, dtype: 'f32' });
  const long = tokensOf(1300).map((i) => i % 97);
  await rig.extend(long);
  assert.deepEqual(rig.made.slice(0, 3), [[0, 512], [512, 1024], [1024, 1299]]);
  const other = new Rig({ peer, nameable: true, dtype: 'f32' });
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(other.extend(long, stop.signal), { code: 'cancelled' });
  assert.equal(other.made.length, 1);
});
