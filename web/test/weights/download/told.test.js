import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Told } from '../../../src/weights/download/told.js';

function harness() {
  /** @type {{now: number, told: number, timers: [() => void, number][]}} */
  const world = { now: 0, told: 0, timers: [] };
  const told = new Told(() => world.told++, {
    now: () => world.now,
    later: (run, ms) => {
      const timer = /** @type {[() => void, number]} */ ([run, ms]);
      world.timers.push(timer);
      return () => void (world.timers = world.timers.filter((one) => one !== timer));
    },
  });
  return { world, told };
}

test('changes that follow each other closely are told together, the last one with them', () => {
  const { world, told } = harness();
  for (world.now = 0; world.now < 50; world.now += 10) told.soon();
  assert.deepEqual([world.told, world.timers.map(([, ms]) => ms)], [1, [90]]);
  world.now = 100;
  world.timers[0][0]();
  assert.deepEqual([world.told, world.timers], [2, []]);
  world.now = 250;
  told.soon();
  assert.deepEqual([world.told, world.timers], [3, []]);
});

test('what is told at once is not told again', () => {
  const { world, told } = harness();
  told.soon();
  told.soon();
  told.now();
  assert.deepEqual([world.told, world.timers], [2, []]);
});

test('after its end nothing is told by itself', () => {
  const { world, told } = harness();
  told.soon();
  told.soon();
  told.end();
  assert.deepEqual([world.told, world.timers], [1, []]);
});
