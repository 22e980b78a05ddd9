import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/common/errors.js';
import { Retry } from '../../../src/ui/machine/retry.js';
import { Connection } from '../../../src/ui/state/connection.js';
import { SERVER, ScriptedEngine, settled } from '../scripted.js';

/** @param {object} [needs] */
function harness(needs = {}) {
  /** @type {ScriptedEngine[]} */
  const engines = [];
  const spawn = () => /** @type {any} */ (engines[engines.push(new ScriptedEngine()) - 1]);
  /** @type {{run: (() => void) | null}} */
  const timer = { run: null };
  const timers = {
    set: (/** @type {() => void} */ run) => (timer.run = run),
    clear: () => void (timer.run = null),
  };
  /** @type {Connection} */
  const connection = new Connection({
    spawn, url: 'http://host', token: () => 'secret-token', transport: () => 'auto', now: () => 0,
    retry: new Retry(() => void connection.connect(), timers), ...needs,
  });
  return { engines, connection, timer };
}

/** @param {ReturnType<typeof harness>} all @param {object} [server] */
async function ready({ engines, connection }, server = {}) {
  void connection.connect();
  engines[0].last('connect').resolve({ ...SERVER, ...server });
  await settled();
  engines[0].last('prepare')?.resolve({ kernel: 'simd', workers: 2 });
  await settled();
}

test('connecting to a model that is here prepares it and is ready', async () => {
  const all = harness();
  await ready(all);
  const [where] = all.engines[0].last('connect').args;
  assert.deepEqual(where, {
    url: 'http://host', token: 'secret-token', transport: 'auto', cacheSalt: null, routing: null,
  });
  assert.equal(all.connection.phase.value.name, 'ready');
  assert.deepEqual(all.connection.ends.value, { kernel: 'simd', workers: 2 });
});

test('the salt of this browser stands for a token where there is none', async () => {
  for (const [token, cacheSalt] of /** @type {[string | null, string | null][]} */ ([[null, 'salt'], ['secret-token', null]])) {
    const all = harness({ token: () => token, salt: () => 'salt' });
    await ready(all);
    assert.equal(all.engines[0].last('connect').args[0].cacheSalt, cacheSalt);
  }
});

test('the engine is told the routing id of this browser, and another one when asked for', async () => {
  let made = 1;
  const all = harness({ routing: { id: () => `id ${made}`, anew: () => `id ${(made += 1)}` } });
  all.connection.routeAnew();
  assert.equal(made, 1, 'before there is an engine there is nothing to be linked');
  await ready(all);
  assert.equal(all.engines[0].last('connect').args[0].routing, 'id 1');
  all.connection.routeAnew();
  assert.deepEqual(all.engines[0].last('reroute').args, ['id 2']);
  const plain = harness();
  await ready(plain);
  plain.connection.routeAnew();
  assert.equal(plain.engines[0].last('reroute'), undefined);
});

test('no engine is started before it is needed', () => {
  const { engines, connection } = harness();
  connection.wake();
  assert.equal(engines.length, 0);
});

test('a download shows its progress, pauses and goes on', async () => {
  const all = harness();
  const { connection, engines } = all;
  await ready(all, { stored: false, doneBytes: 0 });
  void connection.download();
  engines[0].last('pull').args[0].onProgress({ done: 40, total: 100 });
  assert.deepEqual(connection.progress.value, { done: 40, total: 100, perSecond: null, retrying: false });
  engines[0].last('pull').reject(new AppError('paused', 'paused'));
  await settled();
  assert.deepEqual([connection.phase.value.name, connection.phase.value.doneBytes], ['needs_download', 40]);
  void connection.download();
  engines[0].last('pull').resolve();
  await settled();
  assert.equal(connection.phase.value.name, 'preparing');
});

test('a download that finds another model served asks the server anew', async () => {
  const all = harness();
  const { connection, engines } = all;
  await ready(all, { stored: false, doneBytes: 0 });
  void connection.download();
  const asked = engines[0].calls.filter((call) => call.name === 'connect').length;
  engines[0].last('pull').reject(new AppError('weights_changed', 'another model'));
  await settled();
  assert.equal(engines[0].calls.filter((call) => call.name === 'connect').length, asked + 1);
  assert.equal(connection.phase.value.name, 'connecting');
});

test('a server that does not answer is tried again until it does', async () => {
  const all = harness();
  const { engines, connection, timer } = all;
  void connection.connect();
  engines[0].last('connect').reject(new AppError('server_unreachable', 'no answer'));
  await settled();
  assert.equal(connection.phase.value.name, 'offline');
  timer.run?.();
  assert.equal(connection.phase.value.name, 'connecting');
  engines[0].last('connect').resolve(SERVER);
  await settled();
  assert.deepEqual([connection.phase.value.name, timer.run], ['preparing', null]);
});

test('waking tries at once', async () => {
  const { engines, connection } = harness();
  void connection.connect();
  engines[0].last('connect').reject(new AppError('server_unreachable', 'no answer'));
  await settled();
  connection.wake();
  assert.equal(engines[0].calls.filter(({ name }) => name === 'connect').length, 2);
  assert.equal(engines[0].woken, 1);
});

test('the answer to an older attempt changes nothing', async () => {
  const { engines, connection } = harness();
  void connection.connect();
  const older = engines[0].last('connect');
  void connection.connect();
  engines[0].last('connect').reject(new AppError('unauthorized', 'token'));
  await settled();
  older.resolve(SERVER);
  await settled();
  assert.equal(connection.phase.value.name, 'needs_token');
});

test('an engine that died is replaced at the next try', async () => {
  const { engines, connection } = harness();
  void connection.connect();
  engines[0].last('connect').reject(new AppError('engine_failed', 'out of memory'));
  await settled();
  assert.deepEqual([connection.phase.value.name, engines[0].closed], ['failed', true]);
  void connection.connect();
  assert.equal(engines.length, 2);
});

test('a reply’s error moves the page only where it concerns it', async () => {
  const all = harness();
  await ready(all);
  all.connection.replyFailed(new AppError('prompt_too_long', 'too long'));
  assert.equal(all.connection.phase.value.name, 'ready');
  all.connection.replyFailed(new AppError('device_revoked', 'revoked'));
  assert.equal(all.connection.phase.value.name, 'needs_token');
});

test('deleting the model that is served asks the server anew', async () => {
  const all = harness();
  await ready(all);
  void all.connection.remove('d');
  all.engines[0].last('remove').resolve();
  await settled();
  assert.equal(all.connection.phase.value.name, 'connecting');
  all.engines[0].last('connect').resolve({ ...SERVER, stored: false, doneBytes: 0 });
  await settled();
  assert.equal(all.connection.phase.value.name, 'needs_download');
});

for (const code of ['device_revoked', 'unauthorized']) {
  test(`a token that is refused (${code}) does not stay in the browser, a newer one does`, async () => {
    const engine = new ScriptedEngine();
    const kept = { token: /** @type {string | null} */ ('first-token') };
    const connection = new Connection({
      spawn: () => /** @type {any} */ (engine), url: 'http://host', token: () => kept.token,
      forget: () => void (kept.token = null), transport: () => 'auto', now: () => 0,
    });
    void connection.connect();
    engine.last('connect').reject(new AppError(code, 'refused'));
    await settled();
    assert.deepEqual([connection.phase.value.name, kept.token, connection.refused], ['needs_token', null, true]);
    kept.token = 'second-token';
    void connection.connect();
    kept.token = 'third-token';
    engine.last('connect').reject(new AppError(code, 'refused'));
    await settled();
    assert.equal(kept.token, 'third-token', 'paired again in another tab meanwhile');
    void connection.connect();
    engine.last('connect').resolve(SERVER);
    await settled();
    assert.equal(connection.refused, false);
  });
}

test('a server that is away takes no token out of the browser', async () => {
  const engine = new ScriptedEngine();
  let forgotten = 0;
  const connection = new Connection({
    spawn: () => /** @type {any} */ (engine), url: 'http://host', token: () => 'a-token',
    forget: () => void (forgotten += 1), transport: () => 'auto', now: () => 0,
  });
  void connection.connect();
  engine.last('connect').reject(new AppError('server_unreachable', 'away'));
  await settled();
  assert.deepEqual([forgotten, connection.refused], [0, false]);
});

test('a download that brings nothing for a while says so, and that a lost connection is tried again', async () => {
  const world = { now: 0, look: () => {}, looking: false };
  const every = (/** @type {() => void} */ run) => {
    Object.assign(world, { look: run, looking: true });
    return () => void (world.looking = false);
  };
  const all = harness({ now: () => world.now, every });
  const { connection, engines } = all;
  await ready(all, { stored: false, doneBytes: 0 });
  void connection.download();
  const { onProgress } = engines[0].last('pull').args[0];
  for (; world.now <= 2000; world.now += 500) onProgress({ done: world.now, total: 9000, retrying: null });
  assert.equal(connection.progress.value?.perSecond, 1000);
  world.now = 20_000;
  world.look();
  assert.deepEqual(connection.progress.value, { done: 2000, total: 9000, perSecond: null, retrying: false });
  onProgress({ done: 2000, total: 9000, retrying: { code: 'connection_lost', delay: 2 } });
  assert.equal(connection.progress.value?.retrying, true);
  engines[0].last('pull').reject(new AppError('paused', 'paused'));
  await settled();
  assert.equal(world.looking, false);
});

test('the session of a chat that is written to is opened once, where a model is ready', async () => {
  const all = harness();
  const chat = /** @type {any} */ ({ id: 'a' });
  all.connection.expect(chat);
  await ready(all);
  all.connection.expect(chat, 'off');
  all.connection.expect(chat, 'off');
  all.connection.expect(/** @type {any} */ ({ id: 'b' }));
  assert.deepEqual(all.engines[0].expected, [['a', 'off'], ['b', undefined]]);
});

test('of a chat with noise nothing begins before its message is sent', async () => {
  const all = harness();
  await ready(all);
  all.connection.expect(/** @type {any} */ ({ id: 'a', noise: { on: true } }));
  assert.deepEqual(all.engines[0].expected, []);
});

test('a model of several has a path of its own, and another one is connected to from the beginning', async () => {
  /** @type {string | null} */
  let name = null;
  const all = harness({ model: () => name });
  const { connection, engines } = all;
  await ready(all);
  assert.equal(engines[0].last('connect').args[0].url, 'http://host');
  name = 'b';
  void connection.change();
  assert.deepEqual([connection.phase.value.name, connection.phase.value.server, connection.ends.value], ['connecting', null, null]);
  assert.equal(engines[0].last('connect').args[0].url, 'http://host/m/b');
  assert.equal(engines[0].last('connect').args[0].token, 'secret-token');
});

test('a model that is being loaded is asked for again, at the same pace, until it is there', async () => {
  const all = harness();
  const { connection, engines, timer } = all;
  void connection.connect();
  for (let i = 0; i < 3; i++) {
    engines[0].last('connect').reject(new AppError('model_loading', 'it is being loaded'));
    await settled();
    assert.deepEqual([connection.phase.value.name, connection.phase.value.problem?.code], ['connecting', 'model_loading']);
    timer.run?.();
  }
  engines[0].last('connect').resolve(SERVER);
  await settled();
  assert.deepEqual([connection.phase.value.name, connection.phase.value.problem], ['preparing', null]);
});
