import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AskedWriters } from '../../../../src/ui/state/tabs/asked_writers.js';
import { LockedWriters } from '../../../../src/ui/state/tabs/writers.js';
import { FakeLocks, Tabs } from './tabs.js';
import { settled } from '../../scripted.js';

/** Two tabs of one browser, and what ends one of them without a word. @type {Record<string, () => any>} */
const KINDS = {
  locks: () => {
    const locks = new FakeLocks();
    return { tabs: [0, 1].map((tab) => new LockedWriters(locks.of(tab))), kill: () => locks.kill(0), pass: () => {} };
  },
  asking: () => {
    const world = new Tabs();
    const tabs = [0, 1].map(() => new AskedWriters(world.channel(), world.timers));
    return { tabs, kill: () => world.kill(0), pass: () => world.pass() };
  },
};

for (const [kind, make] of Object.entries(KINDS)) {
  const harness = () => {
    const { tabs, ...rest } = make();
    /** @type {boolean[]} */
    const told = [];
    const watch = (chat = 'a') => tabs[1].watch(chat, (/** @type {boolean} */ writing) => told.push(writing));
    return { first: tabs[0], second: tabs[1], told, watch, ...rest };
  };

  test(`${kind}: a tab learns that another one writes, and when that has ended`, async () => {
    const { first, told, watch } = harness();
    const end = first.begin('a');
    watch();
    await settled();
    assert.deepEqual(told, [true]);
    end();
    await settled();
    assert.deepEqual(told, [true, false]);
  });

  test(`${kind}: nothing is told to be written that is not, nor another chat`, async () => {
    const { first, told, watch, pass } = harness();
    first.begin('b');
    watch();
    await settled();
    pass();
    await settled();
    assert.ok(!told.includes(true));
  });

  test(`${kind}: a tab that is gone writes no more`, async () => {
    const { first, told, watch, kill, pass } = harness();
    first.begin('a');
    watch();
    await settled();
    for (let i = 0; i < 5; i++) {
      pass();
      await settled();
    }
    assert.deepEqual(told, [true]);
    kill();
    for (let i = 0; i < 3; i++) {
      pass();
      await settled();
    }
    assert.deepEqual(told, [true, false]);
  });

  test(`${kind}: who does not watch any more is told nothing`, async () => {
    const { first, told, watch } = harness();
    const end = first.begin('a');
    const stop = watch();
    await settled();
    stop();
    end();
    await settled();
    assert.deepEqual(told, [true]);
  });

  test(`${kind}: a reply that begins twice in a row is written as long as the second`, async () => {
    const { first, told, watch } = harness();
    first.begin('a')();
    await settled();
    const end = first.begin('a');
    watch();
    await settled();
    assert.deepEqual(told, [true]);
    end();
    await settled();
    assert.deepEqual(told, [true, false]);
  });
}

test('asking: a tab that watches already hears of a reply that begins', async () => {
  const { tabs: [first, second] } = KINDS.asking();
  /** @type {boolean[]} */
  const told = [];
  second.watch('a', (/** @type {boolean} */ writing) => told.push(writing));
  first.begin('a');
  await settled();
  assert.deepEqual(told, [true]);
});
