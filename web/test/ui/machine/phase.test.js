import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START, meaningForPage, next } from '../../../src/ui/machine/phase.js';

/** @type {any} */
const SERVER = { manifest: { name: 'tiny', digest: 'd' }, stored: false, doneBytes: 30 };
const problem = (/** @type {string} */ code) => ({ code, message: `${code} happened` });

/** @param {any[]} events */
const after = (...events) => events.reduce((phase, event) => next(phase, event), START);

test('a model that is here goes from connecting over preparing to ready', () => {
  const server = { ...SERVER, stored: true };
  assert.equal(after({ type: 'connected', server }).name, 'preparing');
  const ready = after({ type: 'connected', server }, { type: 'prepared' });
  assert.equal(ready.name, 'ready');
  assert.equal(ready.server, server);
});

test('a model that is not here waits for the user, and knows what is here of it', () => {
  const phase = after({ type: 'connected', server: SERVER });
  assert.deepEqual([phase.name, phase.doneBytes], ['needs_download', 30]);
});

test('a paused download keeps its place and goes on', () => {
  const paused = after(
    { type: 'connected', server: SERVER },
    { type: 'download' },
    { type: 'paused', doneBytes: 70 },
  );
  assert.deepEqual([paused.name, paused.doneBytes], ['needs_download', 70]);
  assert.equal(next(next(paused, { type: 'download' }), { type: 'downloaded' }).name, 'preparing');
});

test('a download that breaks off says why where it can be resumed', () => {
  const phase = after(
    { type: 'connected', server: SERVER },
    { type: 'download' },
    { type: 'failed', problem: problem('connection_lost') },
  );
  assert.deepEqual([phase.name, phase.problem?.code], ['needs_download', 'connection_lost']);
});

for (const code of ['unauthorized', 'device_revoked']) {
  test(`${code} asks for a token from wherever the page stands`, () => {
    const ready = after({ type: 'connected', server: { ...SERVER, stored: true } }, { type: 'prepared' });
    for (const phase of [START, ready]) {
      assert.equal(next(phase, { type: 'failed', problem: problem(code) }).name, 'needs_token');
    }
  });
}

test('a server that does not answer is offline, and what it said before is kept', () => {
  const server = { ...SERVER, stored: true };
  const phase = after({ type: 'connected', server }, { type: 'prepared' },
    { type: 'failed', problem: problem('server_unreachable') });
  assert.deepEqual([phase.name, phase.server], ['offline', server]);
  const again = next(phase, { type: 'connect' });
  assert.deepEqual([again.name, again.problem], ['connecting', null]);
});

test('any other error is a failure that names itself', () => {
  const phase = after({ type: 'failed', problem: problem('manifest_invalid') });
  assert.deepEqual([phase.name, phase.problem?.message], ['failed', 'manifest_invalid happened']);
});

test('events of a step that was left change nothing', () => {
  const offline = after({ type: 'failed', problem: problem('offline') });
  for (const type of ['connected', 'download', 'paused', 'downloaded', 'prepared']) {
    const event = /** @type {any} */ ({ type, server: SERVER, doneBytes: 1 });
    assert.equal(next(offline, event), offline, type);
  }
});

test('an error of a reply concerns the page only where it says so', () => {
  assert.equal(meaningForPage('device_revoked'), 'needs_token');
  assert.equal(meaningForPage('model_changed'), 'reconnect');
  assert.equal(meaningForPage('connection_lost'), 'offline');
  assert.equal(meaningForPage('prompt_too_long'), null);
});

test('a model that the server loads is connected to, with the reason for the wait', () => {
  const phase = after({ type: 'connect' }, { type: 'loading', problem: problem('model_loading') });
  assert.deepEqual([phase.name, phase.problem?.code], ['connecting', 'model_loading']);
  assert.equal(next(phase, { type: 'connected', server: SERVER }).problem, null);
});
