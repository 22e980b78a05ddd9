import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claim } from '../../src/weights/claims.js';
import { FakeLocks } from './fakes/browser.js';

const DIGEST = 'a'.repeat(64);
const inUse = { code: 'model_in_use' };

for (const way of ['Web Locks', 'BroadcastChannel']) {
  const locks = () => (way === 'Web Locks' ? /** @type {any} */ (new FakeLocks()) : undefined);

  test(`${way}: one downloads, the next is refused until it has ended`, async () => {
    const options = { exclusive: true, locks: locks() };
    const release = await claim(DIGEST, options);
    await assert.rejects(claim(DIGEST, options), inUse);
    (await claim('b'.repeat(64), options))();
    release();
    release();
    (await claim(DIGEST, options))();
  });

  test(`${way}: users share a model and keep it from being deleted`, async () => {
    const shared = { exclusive: false, locks: locks() };
    const releases = [await claim(DIGEST, shared), await claim(DIGEST, shared)];
    await assert.rejects(claim(DIGEST, { ...shared, exclusive: true }), inUse);
    releases.forEach((release) => release());
    (await claim(DIGEST, { ...shared, exclusive: true }))();
  });
}

test('of two tabs that ask each other at once, exactly one goes on', async () => {
  const options = { exclusive: true, locks: undefined, answerMs: 1500 };
  const asked = [1, 2, 3].map(() => claim(DIGEST, options));
  const settled = await Promise.allSettled(asked);
  const granted = settled.filter((one) => one.status === 'fulfilled');
  granted.forEach((one) => one.value());
  assert.equal(granted.length, 1);
});
