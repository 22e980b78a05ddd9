import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { truth, truths } from './peer.js';
import { Rig } from './rig.js';

const PROMPT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

/** @param {Rig} rig @param {number} [from] */
const steps = (rig, from = 0) =>
  rig.peer.messages.slice(from).flatMap(({ type, step, start }) => (type === 'step' ? [[step, start]] : []));

/** Fates of the next frames, then all goes well. @param {Rig} rig @param {import('./rig.js').Fate[]} fates */
function then(rig, fates) {
  rig.fate = () => fates.shift() ?? 'works';
}

/** A session that is open. @param {ConstructorParameters<typeof Rig>[0]} [options] */
async function opened(options) {
  const rig = new Rig(options);
  await rig.backend.open();
  rig.most = 0;
  return rig;
}

/** @param {Rig} rig */
const appendedOnce = (rig) => assert.ok([...rig.peer.runs.values()].every((count) => count === 1));

test('two steps of a prompt are under way', async () => {
  const rig = await opened();
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.equal(rig.most, 2);
  assert.deepEqual(steps(rig), [[1, 0], [2, 3], [3, 6], [4, 9], [5, 12]]);
  assert.deepEqual([rig.sequence.counters.steps, rig.sequence.counters.rowsSent, rig.sequence.cached], [5, 14, 14]);
});

test('without a WebSocket one step after the other goes', async () => {
  const rig = await opened({ several: false });
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.equal(steps(rig).length, 5);
});

test('up to four are under way where the way takes longer than the passes', async () => {
  const rig = await opened();
  const { carry } = rig;
  rig.carry = (frame, ...rest) => {
    rig.now += 0.05;
    return carry.call(rig, frame, ...rest);
  };
  assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.equal(rig.most, 4);
});

test('an edit in the middle of a prompt goes the same way', async () => {
  const rig = await opened();
  await rig.extend(PROMPT);
  const edited = [...PROMPT.slice(0, 4), ...PROMPT.map((token) => token + 20)];
  assert.deepEqual(await rig.extend(edited), truth(edited));
  appendedOnce(rig);
});

for (const fates of /** @type {import('./rig.js').Fate[][]} */ ([
  ['before'], ['after'], ['works', 'before'], ['works', 'after'], ['after', 'before'], ['after', 'after'],
])) {
  test(`steps whose connection is lost are sent again in order (${fates})`, async () => {
    const rig = await opened();
    then(rig, [...fates]);
    assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
    appendedOnce(rig);
    assert.deepEqual([rig.backend.sessionsOpened, rig.sequence.counters.resends], [1, 0]);
  });
}

test('a step that a later one has replaced at the server counts as answered once that one is', async () => {
  const rig = await opened();
  then(rig, ['after', 'after']);
  const { rows, hidden } = await rig.sequence.extend(PROMPT);
  assert.deepEqual([rows, hidden], [14, truth(PROMPT)]);
  // Both were appended, and the server kept the answer to the second alone.
  assert.deepEqual(steps(rig).slice(0, 4), [[1, 0], [2, 3], [1, 0], [2, 3]]);
  assert.deepEqual([rig.sequence.counters.steps, rig.backend.sessionsOpened], [5, 1]);
});

test('a step that is told to conflict without a later one in its place loses the cache', async () => {
  const rig = await opened();
  rig.peer.failures = [{ code: 'step_conflict' }];
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual([rig.backend.sessionsOpened, rig.sequence.counters.resends], [2, 1]);
});

test('a refusal drops the steps behind it, and all are made again', async () => {
  const rig = await opened();
  rig.peer.failures = [{ code: 'cache_full', retryable: true, retryAfter: 4 }];
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual([rig.waits, rig.backend.sessionsOpened], [[4], 1]);
  assert.deepEqual(steps(rig).slice(0, 5), [[1, 0], [2, 3], [1, 0], [2, 3], [3, 6]]);
  assert.deepEqual(rig.made, [[0, 3], [3, 6], [6, 9], [9, 12], [12, 14]]);
  appendedOnce(rig);
});

test('a refusal in the middle leaves what was appended, and says why', async () => {
  const rig = await opened();
  rig.peer.failures = [null, { code: 'unknown_adapter' }];
  await assert.rejects(rig.extend(PROMPT), { code: 'unknown_adapter' });
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.equal(rig.backend.sessionsOpened, 1);
});

test('a server that stays full is given up after a minute of one step', async () => {
  const rig = await opened();
  rig.peer.failures = Array(99).fill({ code: 'cache_full', retryable: true, retryAfter: 7 });
  await assert.rejects(rig.extend(PROMPT), { code: 'cache_full' });
  assert.equal(rig.now, 56);
});

test('answers in another order than the steps are not used, and the session neither', async () => {
  const rig = await opened();
  const { carry } = rig;
  /** @type {Promise<Uint8Array>[]} */
  const answers = [];
  let secondSent = () => {};
  const second = new Promise((resolve) => (secondSent = () => resolve(null)));
  rig.carry = async (...frame) => {
    const place = answers.push(carry.apply(rig, frame)) - 1;
    if (place > 1) return answers[place];
    if (place === 1) secondSent();
    await second;
    return answers[1 - place];
  };
  await assert.rejects(rig.extend(PROMPT), { code: 'answer_invalid', causeCode: 'malformed_message' });
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.equal(rig.backend.sessionsOpened, 2);
});

test('an answer that belongs to nothing has all that is under way asked again', async () => {
  const rig = await opened();
  then(rig, ['works', () => encodeServerMessage({ type: 'pong' })]);
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  appendedOnce(rig);
  assert.equal(rig.backend.sessionsOpened, 1);
});

for (const fate of /** @type {const} */ (['before', 'after'])) {
  test(`a prompt that was stopped in the middle leaves no wrong belief (${fate})`, async () => {
    const rig = await opened();
    await rig.extend([1, 2]);
    const stop = new AbortController();
    let left = 3;
    rig.fate = () => {
      left -= 1;
      if (left > 0) return 'works';
      stop.abort();
      return fate;
    };
    await assert.rejects(rig.extend(PROMPT, stop.signal), { code: 'cancelled' });
    rig.fate = () => 'works';
    assert.ok(rig.backend.unfinished > 0);
    const edited = [...PROMPT.slice(0, 7), 30, 31, 32];
    assert.deepEqual(await rig.extend(edited), truth(edited));
    assert.equal(rig.backend.sessionsOpened, 1);
    appendedOnce(rig);
  });
}

test('rows that cannot be had behind a step that is under way leave a belief that is settled first', async () => {
  const rig = await opened();
  await rig.extend([1, 2]);
  const { _rows: rows } = rig.sequence;
  rig.sequence._rows = async (tokens, start, stop) => {
    if (start > 2) throw new Error('no rows');
    return rows(tokens, start, stop);
  };
  await assert.rejects(rig.extend(PROMPT), { message: 'no rows' });
  assert.deepEqual([rig.backend.unfinished, rig.sequence.cached], [1, 0]);
  rig.sequence._rows = rows;
  const from = rig.made.length;
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual([rig.made[from], rig.backend.sessionsOpened], [[5, 8], 1]);
  appendedOnce(rig);
});

test('states that come from several steps are all there, whatever is lost', async () => {
  for (const fates of /** @type {import('./rig.js').Fate[][]} */ ([[], ['after', 'after'], ['works', 'after', 'after']])) {
    const rig = await opened();
    then(rig, [...fates]);
    assert.deepEqual((await rig.sequence.cache(PROMPT, { rows: 8 })).states, truths(PROMPT, 8));
    assert.equal(rig.sequence.counters.resends, 0);
  }
});

test('a session that is gone is opened anew, and nobody waits for the answers behind its loss', async () => {
  const rig = await opened();
  await rig.extend([1, 2]);
  rig.peer.sessions.clear();
  assert.deepEqual(await rig.extend(PROMPT), truth(PROMPT));
  assert.deepEqual([rig.channel.reconnects, rig.backend.sessionsOpened], [0, 2]);
});

test('the times of steps that were under way together are the time that passed', async () => {
  const rig = await opened();
  const { carry } = rig;
  rig.carry = (frame, ...rest) => {
    rig.now += 0.01;
    return carry.call(rig, frame, ...rest);
  };
  const before = rig.now;
  const { exchange } = await rig.sequence.extend(PROMPT);
  assert.ok(Math.abs(exchange - (rig.now - before)) < 1e-9, `${exchange}`);
});

test('a session that is ended with steps under way leaves nobody waiting', async () => {
  const rig = await opened();
  const { carry } = rig;
  let sent = 0;
  rig.carry = (...frame) => {
    sent += 1;
    if (sent === 2) void rig.backend.close();
    return carry.apply(rig, frame);
  };
  const plans = [0, 3].map((start) => ({
    start, stop: start + 3, rows: 1, attention: /** @type {const} */ (false), embeddings: async () => new Float32Array(12),
  }));
  await assert.rejects(rig.backend.prefill(plans, { answered: () => {} }), { code: 'cache_lost' });
});
