import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { RedactionClient } from '../../src/redaction/apart/client.js';
import { WorkerHere } from './here.js';
import { ALL, SAID, SECRET, VALUES, redactor } from './some.js';

const MAP = { groups: ALL, regions: ['DE'], names: ['Zacharias Quuxley'], secret: SECRET, entries: [] };
const MORE = `Again ${VALUES[0]} and Eva Müller, +49 30 90654321`;
const lengths = async (/** @type {string[]} */ texts) => texts.map((text) => text.length);
const code = (/** @type {string} */ wanted) => (/** @type {any} */ error) => error instanceof AppError && error.code === wanted;

/** A client whose workers and alarm are at hand. */
function client(Spawned = WorkerHere) {
  const workers = /** @type {WorkerHere[]} */ ([]);
  const alarm = { run: /** @type {any} */ (null) };
  const timers = { set: (/** @type {() => void} */ run) => (alarm.run = run), clear: () => (alarm.run = null) };
  const spawn = () => {
    workers.push(new Spawned());
    return /** @type {any} */ (workers.at(-1));
  };
  return { own: new RedactionClient({ spawn, timers }), workers, alarm };
}

/** Says nothing. */
class Silent extends WorkerHere {
  postMessage() {}
}

test('texts go out of the worker as they do here, and the map has learnt the same', async () => {
  const { own, workers, alarm } = client();
  const { made, learnt } = await own.redacted(MAP, [SAID, MORE], [SAID, MORE], lengths);
  const here = redactor();
  here._count = lengths;
  assert.deepEqual(made, [await here.redacted(SAID, [SAID, MORE]), await here.redacted(MORE, [SAID, MORE])]);
  assert.deepEqual(learnt, here.entries.all);
  const next = await own.redacted({ ...MAP, entries: [...learnt] }, [SAID], [SAID], lengths);
  assert.deepEqual([next.made[0].text, next.learnt], [made[0].text, []]);
  assert.equal(workers.length, 1);
  assert.equal(alarm.run, null);
});

test('texts that are looked at beside each other get each their own tokens and surrogates', async () => {
  const { own } = client();
  const alone = await Promise.all([SAID, MORE].map((text) => client().own.redacted(MAP, [text], [text], lengths)));
  assert.deepEqual(await Promise.all([SAID, MORE].map((text) => own.redacted(MAP, [text], [text], lengths))), alone);
});

test('values in texts are told once each', async () => {
  const { own } = client();
  const here = redactor();
  const wanted = [...new Set([...here.valuesIn(SAID), ...here.valuesIn(MORE)])];
  assert.deepEqual(await own.valuesIn(MAP, [SAID, MORE, SAID]), wanted);
});

test('a map that is none is refused with its code', async () => {
  const entry = /** @type {const} */ ({ kind: 'given', key: 'anna', value: 'Anna', surrogate: 'Eva', rule: '' });
  const { own } = client();
  await assert.rejects(own.redacted({ ...MAP, entries: [entry, entry] }, [SAID], [], lengths), code('redaction_map_invalid'));
});

test('where tokens cannot be counted the reason is told, and the worker goes on', async () => {
  const { own, workers } = client();
  const failing = async () => {
    throw new AppError('connection_lost', 'it broke');
  };
  await assert.rejects(own.redacted(MAP, [SAID], [], failing), code('connection_lost'));
  assert.equal((await own.redacted(MAP, [SAID], [], lengths)).learnt.length, 10);
  assert.equal(workers.length, 1);
});

test('a worker that cannot be had fails all that waits, and the next call begins another', async () => {
  const { own, workers } = client(Silent);
  const waiting = [own.valuesIn(MAP, [SAID]), own.redacted(MAP, [SAID], [], lengths)];
  workers[0].onerror(new Event('error'));
  for (const each of waiting) await assert.rejects(each, code('part_missing'));
  assert.ok(workers[0].ended);
  void own.valuesIn(MAP, [SAID]);
  assert.equal(workers.length, 2);
});

test('a worker that says nothing is ended, but not while it waits for tokens', async () => {
  const { own, workers, alarm } = client();
  let counted = (/** @type {number[]} */ _lengths) => {};
  const asked = new Promise((resolve) => {
    void own.redacted(MAP, [SAID], [], (texts) => {
      resolve(texts);
      return new Promise((then) => (counted = then));
    }).catch(() => {});
  });
  assert.notEqual(alarm.run, null);
  const texts = /** @type {string[]} */ (await asked);
  assert.equal(alarm.run, null);
  const other = own.valuesIn(MAP, [SAID]);
  /** @type {any} */ (alarm).run();
  await assert.rejects(other, code('redaction_unfinished'));
  assert.ok(workers[0].ended);
  // Comes too late, and begins nothing.
  counted(await lengths(texts));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(workers.length, 1);
});

test('no more than some texts wait at a time', async () => {
  const { own } = client(Silent);
  const waiting = Array.from({ length: 64 }, () => own.valuesIn(MAP, [SAID]));
  await assert.rejects(own.valuesIn(MAP, [SAID]), code('redaction_unfinished'));
  assert.equal(waiting.length, 64);
});
