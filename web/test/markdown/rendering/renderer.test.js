import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Renderer } from '../../../src/markdown/rendering/renderer.js';

/** A renderer whose workers answer when they are told to, and whose clock is moved by hand. */
function rig() {
  /** @type {any[]} */
  const workers = [];
  /** @type {{run: () => void, ms: number}[]} */
  const due = [];
  const spawn = () => {
    const worker = { jobs: /** @type {any[]} */ ([]), ended: false, onmessage: null, onerror: null };
    const made = { ...worker, postMessage: (/** @type {any} */ job) => made.jobs.push(job), terminate: () => (made.ended = true) };
    workers.push(made);
    return /** @type {any} */ (made);
  };
  const set = (/** @type {() => void} */ run, /** @type {number} */ ms) => due[due.push({ run, ms }) - 1];
  const clear = (/** @type {any} */ timer) => due.includes(timer) && due.splice(due.indexOf(timer), 1);
  return { renderer: new Renderer({ spawn, timers: { set, clear } }), workers, due };
}

/** @param {string} text */
const formula = (text) => /** @type {const} */ ({ kind: 'formula', text, display: false });
const tree = (/** @type {string} */ name) => ({ name, attributes: {}, style: {}, children: [] });

test('jobs go to one worker, one after the other, and their results are kept', async () => {
  const { renderer, workers, due } = rig();
  const asked = [renderer.ask(formula('a')), renderer.ask(formula('b')), renderer.ask(formula('a'))];
  assert.deepEqual(workers.map(({ jobs }) => jobs.length), [1]);
  workers[0].onmessage({ data: tree('a') });
  await asked[0];
  assert.equal(workers[0].jobs.length, 2);
  workers[0].onmessage({ data: null });
  await Promise.all(asked);
  assert.equal(/** @type {any} */ (renderer.kept(formula('a'))).name, 'a');
  assert.equal(renderer.kept(formula('b')), null);
  assert.equal(renderer.kept(formula('c')), undefined);
  await renderer.ask(formula('a'));
  assert.equal(workers[0].jobs.length, 2);
  assert.equal(due.length, 0);
});

test('a job that takes too long ends the worker, and the next one has another', async () => {
  const { renderer, workers, due } = rig();
  const slow = renderer.ask(formula('slow'));
  const next = renderer.ask(formula('next'));
  assert.ok(due[0].ms > 2000, 'the first one waits for the file too');
  due[0].run();
  await slow;
  assert.equal(renderer.kept(formula('slow')), null);
  assert.ok(workers[0].ended);
  workers[1].onmessage({ data: tree('next') });
  await next;
  const third = renderer.ask(formula('third'));
  assert.equal(due[0].ms, 2000);
  workers[1].onmessage({ data: tree('third') });
  await third;
});

test('a worker that cannot be had is tried a few times and no more', async () => {
  const { renderer, workers } = rig();
  for (let index = 0; index < 20; index += 1) {
    const asked = renderer.ask(formula(`${index}`));
    workers[index]?.onerror?.();
    await asked;
  }
  assert.equal(workers.length, 5);
  assert.equal(renderer.kept(formula('another')), null);
});

test('what is longer than it needs to be stays text, and what is kept has bounds', async () => {
  const { renderer, workers } = rig();
  const long = { kind: /** @type {const} */ ('code'), lang: 'js', text: 'a'.repeat(20_001) };
  assert.equal(renderer.kept(long), null);
  await renderer.ask(long);
  assert.equal(workers.length, 0);
  for (let index = 0; index < 100; index += 1) {
    const asked = renderer.ask({ ...long, text: String(index).padEnd(19_000) });
    workers[0].onmessage({ data: null });
    await asked;
  }
  assert.equal(renderer.kept({ ...long, text: '0'.padEnd(19_000) }), undefined, 'forgotten');
  assert.equal(renderer.kept({ ...long, text: '99'.padEnd(19_000) }), null);
});
