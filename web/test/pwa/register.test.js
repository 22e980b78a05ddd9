import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownBuild, registerServiceWorker } from '../../src/pwa/register.js';

/** @param {(script: string, options: object) => Promise<unknown>} register */
function navigatorWith(register) {
  const workers = Object.assign(new EventTarget(), { register });
  return /** @type {any} */ ({ serviceWorker: workers });
}

function pageOf() {
  return Object.assign(new EventTarget(), { visibilityState: 'visible' });
}
const page = pageOf();

test('a secure page registers the worker of its origin', async () => {
  /** @type {unknown[]} */
  const asked = [];
  const navigator = navigatorWith(async (...all) => asked.push(all));
  assert.equal(await registerServiceWorker({ navigator, secure: true, page }), 'on');
  assert.deepEqual(asked, [['/service-worker.js', { scope: '/', updateViaCache: 'none' }]]);
});

test('a page says why it is not kept', async () => {
  const never = navigatorWith(() => assert.fail());
  assert.equal(await registerServiceWorker({ navigator: never, secure: false, page }), 'insecure');
  const old = /** @type {any} */ ({});
  assert.equal(await registerServiceWorker({ navigator: old, secure: true, page }), 'unsupported');
  const untrusted = navigatorWith(() => Promise.reject(new DOMException('certificate', 'SecurityError')));
  assert.equal(await registerServiceWorker({ navigator: untrusted, secure: true, page }), 'insecure');
  const broken = navigatorWith(() => Promise.reject(new TypeError('no script')));
  assert.equal(await registerServiceWorker({ navigator: broken, secure: true, page }), 'unsupported');
});

test('another build is told, and neither this one nor other messages are', async () => {
  const navigator = navigatorWith(async () => {});
  /** @type {string[]} */
  const builds = [];
  const onNewVersion = (/** @type {string} */ build) => builds.push(build);
  await registerServiceWorker({ navigator, secure: true, page, own: 'b1', onNewVersion });
  const [same, other] = ['b1', 'b2'].map((build) => ({ type: 'new_version', build }));
  for (const data of [same, null, 'x', { type: 'other' }, other]) {
    navigator.serviceWorker.dispatchEvent(Object.assign(new Event('message'), { data }));
  }
  assert.deepEqual(builds, ['b2']);
});

test('the build of a page is in the address of its script', () => {
  assert.equal(ownBuild('https://box.example/app/0a1b2c/app.js'), '0a1b2c');
  assert.equal(ownBuild('file:///web/src/pwa/register.js'), null);
});

test('a page that is shown again asks the worker that serves it for a new version', async () => {
  const navigator = navigatorWith(async () => {});
  /** @type {unknown[]} */
  const sent = [];
  const shown = pageOf();
  await registerServiceWorker({ navigator, secure: true, page: shown });
  shown.dispatchEvent(new Event('visibilitychange'));
  const postMessage = (/** @type {unknown} */ message) => sent.push(message);
  navigator.serviceWorker.controller = { postMessage };
  shown.dispatchEvent(new Event('visibilitychange'));
  shown.visibilityState = 'hidden';
  shown.dispatchEvent(new Event('visibilitychange'));
  assert.deepEqual(sent, [{ type: 'check' }]);
});
