import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Frames } from '../../../src/ui/state/frames.js';

function harness(cost = 0) {
  const state = { now: 0, runs: 0 };
  /** @type {(() => void)[]} */
  const asked = [];
  const task = () => {
    state.runs += 1;
    state.now += cost;
  };
  /** @type {{run: () => void, at: number}[]} */
  const waiting = [];
  const frames = new Frames(task, {
    frame: (run) => asked.push(run),
    wait: (run, milliseconds) => waiting.push({ run, at: state.now + milliseconds }),
    now: () => state.now,
  });
  const frame = () => {
    state.now += 16;
    for (const { run } of waiting.filter(({ at }) => at <= state.now)) run();
    waiting.splice(0, Infinity, ...waiting.filter(({ at }) => at > state.now));
    for (const run of asked.splice(0)) run();
  };
  return { state, frames, frame, asked };
}

test('however often it is asked, the task runs once a frame', () => {
  const { state, frames, frame } = harness();
  for (let token = 0; token < 20; token += 1) frames.ask();
  frame();
  frame();
  assert.equal(state.runs, 1);
});

test('a slow task takes a quarter of the time at most', () => {
  const { state, frames, frame } = harness(30);
  for (let count = 0; count < 100; count += 1) {
    frames.ask();
    frame();
  }
  assert.ok(state.runs * 30 <= state.now / 4 + 30, `${state.runs} runs in ${state.now} ms`);
  assert.ok(state.runs > 10);
});

test('after its end nothing runs any more', () => {
  const { state, frames, frame, asked } = harness();
  frames.ask();
  frames.end();
  frame();
  frames.ask();
  assert.deepEqual([state.runs, asked.length], [0, 0]);
});

test('the first text is drawn at once, later ones twenty times a second', () => {
  const { state, frames, frame } = harness();
  frames.ask();
  frame();
  assert.equal(state.runs, 1);
  for (let count = 0; count < 600; count += 1) {
    frames.ask();
    frame();
  }
  const most = state.now / 50 + 1;
  assert.ok(state.runs <= most && state.runs > most / 2, `${state.runs} runs in ${state.now} ms`);
});

test('no frame is asked for while nothing may be drawn', () => {
  const { frames, frame, asked } = harness();
  frames.ask();
  frame();
  frames.ask();
  assert.equal(asked.length, 0);
});
