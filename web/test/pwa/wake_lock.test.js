import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WakeLock } from '../../src/pwa/wake_lock.js';

/** A page that may be hidden, and a browser that gives locks and takes them away. */
function world() {
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  /** @type {{released: boolean, release: () => Promise<void>}[]} */
  const locks = [];
  const browser = {
    refuses: false,
    request: async () => {
      if (browser.refuses) throw new DOMException('battery', 'NotAllowedError');
      const lock = {
        released: false,
        release: async () => {
          lock.released = true;
        },
      };
      locks.push(lock);
      return lock;
    },
  };
  const show = async (/** @type {string} */ state) => {
    document.visibilityState = state;
    if (state === 'hidden') for (const lock of locks) lock.released = true;
    document.dispatchEvent(new Event('visibilitychange'));
    await new Promise(setImmediate);
  };
  const lock = new WakeLock(/** @type {any} */ ({ navigator: { wakeLock: browser }, document }));
  return { lock, locks, browser, show };
}

test('the screen stays on from hold to release', async () => {
  const { lock, locks } = world();
  await lock.hold();
  await lock.hold();
  assert.ok(lock.active && locks.length === 1);
  await lock.release();
  assert.ok(!lock.active && locks[0].released);
  await lock.release();
});

test('a lock that was taken away while the page was hidden is asked for again', async () => {
  const { lock, locks, show } = world();
  await lock.hold();
  await show('hidden');
  assert.equal(lock.active, false);
  await show('visible');
  assert.ok(lock.active && locks.length === 2);
  await lock.release();
  await show('hidden');
  await show('visible');
  assert.equal(locks.length, 2);
});

test('a hidden page asks once it is seen', async () => {
  const { lock, locks, show } = world();
  await show('hidden');
  await lock.hold();
  assert.equal(locks.length, 0);
  await show('visible');
  assert.equal(locks.length, 1);
});

test('a lock that comes after the release is given back', async () => {
  const { lock, locks } = world();
  const held = lock.hold();
  const released = lock.release();
  await Promise.all([held, released]);
  assert.ok(!lock.active && locks[0].released);
});

test('a refusal is no failure and the next awakening asks again', async () => {
  const { lock, browser, show } = world();
  browser.refuses = true;
  await lock.hold();
  assert.equal(lock.active, false);
  browser.refuses = false;
  await show('visible');
  assert.equal(lock.active, true);
});

test('a browser without wake locks goes on without', async () => {
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const lock = new WakeLock(/** @type {any} */ ({ navigator: {}, document }));
  await lock.hold();
  assert.deepEqual([lock.supported, lock.active], [false, false]);
  await lock.release();
});
