import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CacheLost } from '../../src/session/errors.js';
import { Sequence } from '../../src/session/sequence.js';

/** A backend that holds rows of width 1 and answers with their sum. */
class Backend {
  constructor() {
    this.maxRows = 3;
    this.maxContext = 8;
    /** @type {number[]} */
    this.rows = [];
    /** @type {number[][]} */
    this.steps = [];
    /** @type {any[]} */
    this.errors = [];
    /** @type {(string | null)[]} */
    this.adapters = [];
    this.opened = 0;
    this.closed = 0;
  }

  async open() {
    this.opened += 1;
  }

  /** @param {number} start @param {Float32Array} rows @param {{adapter: string | null}} options */
  async step(start, rows, { adapter }) {
    const error = this.errors.shift();
    if (error) throw error;
    assert.ok(start <= this.rows.length);
    this.rows = [...this.rows.slice(0, start), ...rows];
    this.steps.push([start, rows.length]);
    this.adapters.push(adapter);
    const hidden = Float32Array.of(this.rows.reduce((sum, row) => sum + row, 0));
    return { hidden, computeUs: 2000, queueUs: 1000, exchangeUs: 10_000 };
  }

  async close() {
    this.closed += 1;
  }
}

function rig() {
  const backend = new Backend();
  /** @type {number[][]} */
  const asked = [];
  const sequence = new Sequence(backend, async (tokens, start, stop) => {
    asked.push([start, stop]);
    return Float32Array.from(tokens.slice(start, stop));
  });
  return { backend, sequence, asked };
}

test('only what differs is sent, in steps of the allowed size', async () => {
  const { backend, sequence, asked } = rig();
  await sequence.extend([1, 2, 3, 4, 5]);
  const extended = await sequence.extend([1, 2, 9]);
  assert.deepEqual(backend.steps, [[0, 3], [3, 2], [2, 1]]);
  assert.deepEqual(asked, [[0, 3], [3, 5], [2, 3]]);
  assert.deepEqual([extended.hidden[0], extended.rows], [12, 1]);
  assert.deepEqual(sequence.counters, { steps: 3, rowsSent: 6, rowsReused: 2, rowsRestored: 0, resends: 0 });
});

test('tokens that are all cached cost one row', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1, 2, 3]);
  await sequence.extend([1, 2, 3]);
  await sequence.extend([1, 2]);
  assert.deepEqual(backend.steps, [[0, 3], [2, 1], [1, 1]]);
  assert.deepEqual([sequence.cached, sequence.shared([1, 2, 7]), sequence.shared([2])], [2, 2, 0]);
});

test('times are those of all steps, split into compute, queue and the rest', async () => {
  const { exchange, compute, queue, wire } = await rig().sequence.extend([1, 2, 3, 4]);
  assert.deepEqual([exchange, compute, queue], [0.02, 0.004, 0.002]);
  assert.ok(Math.abs(wire - 0.014) < 1e-12);
});

test('a lost cache is sent again whole, and one that is lost every time is given up', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1, 2]);
  backend.errors = [new CacheLost()];
  await sequence.extend([1, 2, 3]);
  assert.deepEqual(backend.steps, [[0, 2], [0, 3]]);
  backend.errors = Array.from({ length: 4 }, () => new CacheLost());
  await assert.rejects(sequence.extend([1]), { code: 'session_unstable' });
  assert.equal(sequence.counters.resends, 5);
});

test('any other failure leaves no belief about the cache', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1, 2]);
  backend.errors = [new Error('broken')];
  await assert.rejects(sequence.extend([1, 2, 3]), { message: 'broken' });
  assert.equal(sequence.cached, 0);
  await sequence.extend([1, 2, 3]);
  assert.deepEqual(backend.steps.at(-1), [0, 3]);
});

test('rows that cannot be had leave the belief as it is', async () => {
  const backend = new Backend();
  let fails = false;
  const sequence = new Sequence(backend, async (tokens, start, stop) => {
    if (fails) throw new Error('no rows');
    return Float32Array.from(tokens.slice(start, stop));
  });
  await sequence.extend([1, 2]);
  fails = true;
  await assert.rejects(sequence.extend([1, 2, 3]), { message: 'no rows' });
  assert.equal(sequence.cached, 2);
});

test('one that is stopped before it sends keeps its belief', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1, 2]);
  const signal = AbortSignal.abort();
  await assert.rejects(sequence.extend([1, 2, 3], { signal }), { code: 'cancelled' });
  assert.deepEqual([sequence.cached, backend.steps.length], [2, 1]);
});

test('nothing and too much are refused before anything is sent', async () => {
  const { backend, sequence } = rig();
  await assert.rejects(sequence.extend([]), { code: 'prompt_empty' });
  await assert.rejects(sequence.extend([1, 2, 3, 4, 5, 6, 7, 8, 9]), { code: 'prompt_too_long', tokens: 9, limit: 8 });
  assert.deepEqual(backend.steps, []);
});

test('the context is known once the session is open', async () => {
  const { backend, sequence } = rig();
  assert.equal(await sequence.maxContext(), 8);
  assert.equal(backend.opened, 1);
});

test('every step names the adapter of the moment, and the cache stays', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1]);
  sequence.adapter = 'banking';
  await sequence.extend([1, 2]);
  assert.deepEqual([backend.adapters, backend.steps], [[null, 'banking'], [[0, 1], [1, 1]]]);
});

test('closing forgets the cache', async () => {
  const { backend, sequence } = rig();
  await sequence.extend([1]);
  await sequence.close();
  assert.deepEqual([sequence.cached, backend.closed], [0, 1]);
});
