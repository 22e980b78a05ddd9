import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { decodeServerMessage } from '../../src/protocol/parsing.js';
import { Tensor } from '../../src/protocol/tensor.js';
import { MANIFEST, WIDTH, rowsOf, truth } from './peer.js';
import { Rig } from './rig.js';

/** @param {Rig} rig @param {string} type */
const sent = (rig, type) => rig.peer.messages.filter((message) => message.type === type);

test('a session is opened once, and its limits are the smaller of all', async () => {
  const rig = new Rig({ maxContext: 7 });
  assert.deepEqual([rig.backend.dtype, rig.backend.capabilities], [null, []]);
  assert.throws(() => rig.backend.maxRows, { code: 'protocol_state' });
  await rig.backend.open();
  await rig.backend.open();
  assert.deepEqual([rig.backend.maxRows, rig.backend.maxContext, rig.backend.dtype], [3, 7, 'f32']);
  assert.deepEqual(rig.backend.capabilities, ['later', 'rows', 'attention']);
  assert.equal(rig.backend.interactiveRows, 3);
  assert.deepEqual(sent(rig, 'open').map(({ manifest, dtype }) => [manifest, dtype]), [[MANIFEST, null]]);
});

test('prefill, decode, rollback and edit hold exactly the tokens given', async () => {
  const rig = new Rig();
  for (const tokens of [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [1, 2, 3], [1, 2, 9, 9], [7], [7, 8]]) {
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    assert.equal(rig.backend.cached, tokens.length);
  }
  assert.equal(rig.backend.sessionsOpened, 1);
});

test('a step tells the server\'s times and the whole wait in microseconds', async () => {
  const rig = new Rig();
  await rig.backend.open();
  rig.fate = () => {
    rig.now += 0.25;
    return 'works';
  };
  const output = await rig.backend.step(0, rowsOf([1]));
  assert.deepEqual([output.computeUs, output.queueUs, output.exchangeUs], [2000, 500, 250_000]);
});

test('the adapter of a step travels with it', async () => {
  const rig = new Rig();
  rig.sequence.adapter = 'banking';
  await rig.extend([1]);
  assert.equal(sent(rig, 'step')[0].adapter, 'banking');
});

test('a step beyond the cache is told to begin anew', async () => {
  await assert.rejects(new Rig().backend.step(1, rowsOf([1])), { code: 'cache_lost' });
});

test('a session that the server dropped is opened again and filled', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  rig.peer.sessions.clear();
  assert.deepEqual(await rig.extend([1, 2, 3]), truth([1, 2, 3]));
  assert.deepEqual([rig.sequence.counters.resends, rig.backend.sessionsOpened], [1, 2]);
});

test('a session that somebody else rewrote is never continued', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  const [held] = rig.peer.sessions.values();
  held.chain.replace(0, held.chain.following(0, Tensor.fromF32(rowsOf([5, 5]), WIDTH, 'f32')));
  held.rows = ['other', 'other'];
  assert.deepEqual(await rig.extend([1, 2, 3]), truth([1, 2, 3]));
  assert.equal(rig.peer.sessions.size, 1);
});

test('a server that loses every session is given up', async () => {
  const rig = new Rig();
  rig.fate = () => {
    rig.peer.sessions.clear();
    return 'works';
  };
  await assert.rejects(rig.extend([1]), { code: 'session_unstable' });
  assert.equal(rig.backend.sessionsOpened, 4);
});

test('a full server is asked again after the delay that it names', async () => {
  const rig = new Rig();
  await rig.backend.open();
  const full = { code: 'overloaded', retryable: true, retryAfter: 4 };
  rig.peer.failures = [full, { ...full, retryAfter: null }];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual(rig.waits, [4, 0.2]);
  assert.equal(rig.peer.runs.size, 1);
});

test('a server that stays full is given up after a minute', async () => {
  const rig = new Rig();
  await rig.backend.open();
  rig.peer.failures = Array(99).fill({ code: 'cache_full', retryable: true, retryAfter: 7 });
  await assert.rejects(rig.extend([1]), { code: 'cache_full' });
  assert.equal(rig.now, 56);
});

test('a refusal keeps its code and leaves the session usable', async () => {
  const rig = new Rig();
  await rig.extend([1]);
  rig.peer.failures = [{ code: 'unknown_adapter' }];
  await assert.rejects(rig.extend([1, 2]), { code: 'unknown_adapter', message: 'Words.' });
  assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
  assert.equal(rig.backend.sessionsOpened, 1);
});

test('after a refused step nothing is believed of what the edit would have cached', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  rig.peer.failures = [{ code: 'hidden_overflow' }];
  await assert.rejects(rig.extend([1, 9]), { code: 'hidden_overflow' });
  assert.equal(rig.sequence.cached, 0);
  assert.deepEqual(await rig.extend([1, 9, 3]), truth([1, 9, 3]));
});

test('after an internal error a new session is opened', async () => {
  const rig = new Rig();
  await rig.extend([1]);
  rig.peer.failures = [{ code: 'internal_error' }];
  await assert.rejects(rig.extend([1, 2]), { code: 'internal_error' });
  assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
  assert.equal(rig.backend.sessionsOpened, 2);
});

test('another model behind the address is named', async () => {
  const rig = new Rig();
  rig.peer.manifest = 'another';
  await assert.rejects(rig.extend([1]), { code: 'model_changed' });
  const lying = new Rig();
  lying.fate = () => (answer) => changed(answer, { manifest: 'another' });
  await assert.rejects(lying.extend([1]), { code: 'model_changed' });
});

/** @param {Uint8Array} answer @param {any} fields */
function changed(answer, fields) {
  return encodeServerMessage({ ...decodeServerMessage(answer, 1 << 20), ...fields });
}

/** @param {number} rows @param {number} width @param {number} value */
const hiddenOf = (rows, width, value) =>
  new Tensor('f32', rows, width, new Uint8Array(new Float32Array(rows * width).fill(value).buffer));

for (const [what, fields, causeCode] of /** @type {[string, any, string][]} */ ([
  ['two rows where one was asked for', { hidden: hiddenOf(2, WIDTH, 1) }, 'wrong_shape'],
  ['rows of another width', { hidden: hiddenOf(1, WIDTH + 1, 1) }, 'wrong_hidden_size'],
  ['NaN', { hidden: hiddenOf(1, WIDTH, NaN) }, 'non_finite'],
  ['another number of positions', { cached: 9 }, 'malformed_message'],
])) {
  test(`a result with ${what} is not used, and the session neither`, async () => {
    const rig = new Rig();
    await rig.extend([1]);
    rig.fate = () => (answer) => changed(answer, fields);
    await assert.rejects(rig.extend([1, 2]), { code: 'answer_invalid', causeCode });
    rig.fate = () => 'works';
    assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
    assert.equal(rig.backend.sessionsOpened, 2);
  });
}

for (const [what, fields] of /** @type {[string, any][]} */ ([
  ['another session', { session: 'other' }],
  ['another step', { step: 7 }],
  ['another prefix', { prefix: new Uint8Array(16) }],
])) {
  test(`a result of ${what} is not taken for the outstanding one`, async () => {
    const rig = new Rig();
    await rig.extend([1]);
    let lies = 1;
    rig.fate = () => (lies-- > 0 ? (answer) => changed(answer, fields) : 'works');
    assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
    rig.fate = () => (answer) => changed(answer, fields);
    await assert.rejects(rig.extend([1, 2, 3]), { code: 'answer_invalid' });
  });
}

for (const [what, fields] of /** @type {[string, any][]} */ ([
  ['no rows', { maxRows: 0 }],
  ['no positions', { maxContext: 0 }],
  ['another dtype than asked for', { dtype: 'i8' }],
])) {
  test(`a session with ${what} is not used`, async () => {
    const rig = new Rig({ dtype: 'f32' });
    rig.fate = () => (answer) => changed(answer, fields);
    await assert.rejects(rig.extend([1]), { code: 'answer_invalid' });
    assert.equal(rig.backend.dtype, null);
  });
}

test('garbage, a cut frame and an endless one are invalid answers', async () => {
  const garbage = Uint8Array.of(1, 2, 3);
  for (const answer of [garbage, new Uint8Array(0), truncated, endless]) {
    const rig = new Rig();
    rig.fate = () => (whole) => (typeof answer === 'function' ? answer(whole) : answer);
    await assert.rejects(rig.extend([1]), { code: 'answer_invalid' });
  }
});

/** @param {Uint8Array} answer */
const truncated = (answer) => answer.slice(0, -1);
/** @param {Uint8Array} answer */
const endless = (answer) => Uint8Array.of(...answer, ...new Uint8Array(70_000));

test('an interrupted step is finished by its very bytes before the next one', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  const stop = new AbortController();
  rig.onSent = () => stop.abort();
  await assert.rejects(rig.extend([1, 2, 3], stop.signal), { code: 'cancelled' });
  rig.onSent = () => {};
  assert.deepEqual([rig.sequence.cached, rig.backend.unfinished], [0, 1]);
  assert.deepEqual(await rig.extend([1, 2, 3, 4]), truth([1, 2, 3, 4]));
  assert.deepEqual([rig.backend.sessionsOpened, rig.sequence.counters.rowsReused], [1, 5]);
  assert.ok([...rig.peer.runs.values()].every((count) => count === 1));
});

test('an interrupted step that the server then refuses costs no session and no mix-up', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  const stop = new AbortController();
  rig.fate = () => {
    stop.abort();
    return 'before';
  };
  await assert.rejects(rig.extend([1, 9], stop.signal), { code: 'cancelled' });
  rig.fate = () => 'works';
  rig.peer.failures = [{ code: 'cache_full' }];
  assert.deepEqual(await rig.extend([1, 9, 3]), truth([1, 9, 3]));
  assert.equal(rig.backend.sessionsOpened, 1);
});

test('an opening that was interrupted is asked for again', async () => {
  const rig = new Rig();
  const stop = new AbortController();
  rig.onSent = () => stop.abort();
  await assert.rejects(rig.extend([1], stop.signal), { code: 'cancelled' });
  rig.onSent = () => {};
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual([rig.backend.sessionsOpened, rig.peer.opened], [1, 2]);
});

test('waiting for a full server can be aborted', async () => {
  const rig = new Rig();
  await rig.backend.open();
  const stop = new AbortController();
  rig.peer.failures = [{ code: 'overloaded', retryable: true, retryAfter: 5 }];
  rig.onSent = () => stop.abort();
  await assert.rejects(rig.backend.step(0, rowsOf([1]), { signal: stop.signal }), { code: 'cancelled' });
});

test('closing ends the session on the server', async () => {
  const rig = new Rig();
  await rig.extend([1]);
  await rig.sequence.close();
  assert.deepEqual([rig.peer.sessions.size, rig.sequence.cached, rig.backend.dtype], [0, 0, null]);
  await rig.sequence.close();
  assert.equal(sent(rig, 'close').length, 1);
});

test('without a connection, or while one is lost, it tells that no answer can come', async () => {
  const rig = new Rig();
  assert.equal(rig.sequence.reachable, false);
  /** @type {boolean[]} */
  const seen = [];
  rig.onSent = () => seen.push(rig.sequence.reachable);
  await rig.sequence.extend([1, 2]);
  assert.ok(seen.every(Boolean) && rig.sequence.reachable);
  rig.fate = () => (rig.waits.length < 2 ? 'before' : 'works');
  const { push } = rig.waits;
  rig.waits.push = (...seconds) => {
    seen.push(rig.sequence.reachable);
    return push.apply(rig.waits, seconds);
  };
  seen.length = 0;
  await rig.sequence.extend([1, 2, 3]);
  assert.deepEqual(seen, [false, false, true]);
});

test('a server that loads the model is asked again soon, for ten minutes', async () => {
  const rig = new Rig();
  await rig.backend.open();
  const loading = { code: 'model_loading', retryable: true, retryAfter: 30 };
  rig.peer.failures = [loading, loading, { ...loading, retryAfter: 1 }];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual(rig.waits, [5, 5, 1]);
  rig.peer.failures = Array(999).fill(loading);
  await assert.rejects(rig.extend([1, 2]), { code: 'model_loading' });
  assert.equal(rig.now, 611);
});

test('a model that others keep out of the memory is told at once', async () => {
  const rig = new Rig();
  await rig.backend.open();
  rig.peer.failures = [{ code: 'model_busy', retryable: true, retryAfter: 1 }];
  await assert.rejects(rig.extend([1]), { code: 'model_busy' });
  rig.peer.failures = [{ code: 'model_unusable', retryable: false }];
  await assert.rejects(rig.extend([1]), { code: 'model_unusable' });
  assert.deepEqual(rig.waits, []);
});
