import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_DRAFT } from '../../../src/generation/speculation/drafts.js';
import { Lookahead } from '../../../src/generation/speculation/lookahead.js';

/** A sequence whose states are the tokens that they come after, the newest first. */
class TellingSequence {
  constructor() {
    this.cached = 1;
    this.counters = { steps: 0, resends: 0 };
    /** @type {string | null} */
    this.adapter = null;
    this.context = 100;
    this.interactive = 16;
    /** @type {[number[], number][]} */
    this.steps = [];
    /** Set to fail the next step. @type {Error | null} */
    this.failure = null;
    /** How often the cache is lost on the way. */
    this.lost = 0;
    /** @type {number[]} */
    this._held = [];
  }

  /** @param {number[]} tokens */
  shared(tokens) {
    const end = tokens.findIndex((token, i) => token !== this._held[i]);
    return end < 0 ? tokens.length : end;
  }

  async maxContext() {
    return this.context;
  }

  async interactiveRows() {
    return this.interactive;
  }

  /** @param {number[]} tokens @param {{rows: number}} options */
  async cache(tokens, { rows }) {
    const failure = this.failure;
    this.failure = null;
    if (failure) throw failure;
    this.steps.push([[...tokens], rows]);
    this.counters.steps += 1;
    this.counters.resends += this.lost;
    const sent = tokens.length - Math.min(this.shared(tokens), tokens.length - rows);
    this._held = [...tokens];
    const ends = Array.from({ length: rows }, (_, i) => tokens.length - rows + 1 + i);
    const states = Float32Array.from(ends.flatMap((end) => [tokens[end - 1], end]));
    const times = { exchange: 0.5, compute: 0.125, queue: 0.25, wire: 0.125 };
    return { states, hidden: states.subarray(-2), rows: sent, ...times };
  }
}

/** A drafter that guesses what the test says. @param {(number[] | null)[]} guesses one after the other */
function drafting(...guesses) {
  /** @type {any[]} */
  const told = [];
  return {
    told,
    draft(/** @type {number[]} */ tokens, /** @type {number} */ most) {
      told.push(['draft', tokens.length, most]);
      const guess = guesses.shift() ?? null;
      return guess ? { source: 'suffix', tokens: guess.slice(0, most), match: 3 } : NO_DRAFT;
    },
    stepped: (/** @type {any} */ cost) => void told.push(['stepped', cost]),
    judged: (/** @type {any} */ draft, /** @type {number} */ accepted) => void told.push(['judged', [...draft.tokens], accepted]),
    head: (/** @type {number} */ seconds) => void told.push(['head', seconds]),
    replied: (/** @type {number[]} */ prompt, /** @type {number[]} */ reply) => void told.push(['replied', prompt, reply]),
  };
}

const signal = new AbortController().signal;
const wished = (/** @type {any} */ more = {}) => ({ signal, most: 50, ...more });

/** The state after `tokens`. @param {Lookahead} ahead @param {number[]} tokens */
const after = async (ahead, tokens) => [...(await ahead.extend(tokens, wished())).hidden];

test('one step answers for as many tokens as its draft has right', async () => {
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafting([7, 8, 9]));
  for (const tokens of [[1, 2], [1, 2, 7], [1, 2, 7, 8], [1, 2, 7, 8, 9]]) {
    assert.deepEqual(await after(ahead, tokens), [tokens.at(-1), tokens.length]);
  }
  assert.deepEqual(sequence.steps, [[[1, 2, 7, 8, 9], 4]]);
  assert.deepEqual(ahead.figures, { drafted: 3, accepted: 3 });
});

test('what follows another token than the drafted one is never taken from the draft', async () => {
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafting([7, 8, 9]));
  await after(ahead, [1, 2]);
  assert.deepEqual(await after(ahead, [1, 2, 5]), [5, 3]);
  assert.deepEqual(await after(ahead, [1, 2, 7]), [7, 3]);
  assert.deepEqual(await after(ahead, [4, 2, 7, 8]), [8, 4]);
  assert.equal(sequence.steps.length, 4);
});

test('a state that another adapter was applied to is not taken', async () => {
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafting([7, 8]));
  await after(ahead, [1, 2]);
  sequence.adapter = 'banking';
  await after(ahead, [1, 2, 7]);
  assert.equal(sequence.steps.length, 2);
});

test('a draft goes no further than the reply, the context and what is interactive', async () => {
  const sequence = new TellingSequence();
  const drafter = drafting();
  const ahead = new Lookahead(sequence, drafter);
  await ahead.extend([1], wished({ most: 4 }));
  sequence.context = 5;
  await ahead.extend([1, 2], wished());
  Object.assign(sequence, { context: 100, interactive: 6 });
  await ahead.extend([1, 2, 3, 4], wished());
  await ahead.extend(Array(20).fill(1), wished());
  Object.assign(sequence, { context: 1e6, interactive: 65_536 });
  await ahead.extend([1], wished({ most: 1e6 }));
  const asked = drafter.told.filter(([what]) => what === 'draft').map(([, , most]) => most);
  assert.deepEqual(asked, [4, 3, 4, 0, 63]);
});

test('the first step of a new session has no draft, as what it may hold is not known yet', async () => {
  const sequence = new TellingSequence();
  sequence.cached = 0;
  const drafter = drafting([7]);
  await after(new Lookahead(sequence, drafter), [1, 2]);
  assert.deepEqual(sequence.steps, [[[1, 2], 1]]);
});

test('tokens that follow for certain travel in one step, and are no drafts', async () => {
  const sequence = new TellingSequence();
  const drafter = drafting();
  const ahead = new Lookahead(sequence, drafter);
  const sure = Array.from({ length: 30 }, (_, i) => 40 + i);
  await ahead.extend([1, 2], wished({ sure }));
  assert.deepEqual(await after(ahead, [1, 2, ...sure]), [69, 32]);
  assert.deepEqual(sequence.steps, [[[1, 2, ...sure], 31]]);
  assert.deepEqual(ahead.figures, { drafted: 0, accepted: 0 });
  assert.ok(drafter.told.every(([what]) => what === 'stepped'));
});

test('the drafter is told what steps took and what became of its drafts', async () => {
  const drafter = drafting([7, 8, 9], [5, 6]);
  const ahead = new Lookahead(new TellingSequence(), drafter);
  await after(ahead, [1]);
  await after(ahead, [1, 7]);
  ahead.chose(0.25);
  await after(ahead, [1, 7, 2]);
  ahead.ended([1], [7, 2, 5]);
  const cost = { seconds: 0.5, compute: 0.125, queue: 0.25 };
  assert.deepEqual(drafter.told, [
    ['draft', 1, 15], ['stepped', { rows: 4, returned: 4, ...cost }],
    ['head', 0.25],
    ['judged', [7, 8, 9], 1], ['draft', 3, 15], ['stepped', { rows: 3, returned: 3, ...cost }],
    // The reply ended before its last token could be judged.
    ['judged', [5], 1], ['replied', [1], [7, 2, 5]],
  ]);
});

test('a cache that was left, or used by somebody else, answers nothing any more', async () => {
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafting([7, 8], [8, 9], [9]));
  await after(ahead, [1]);
  sequence.counters.steps += 1;
  await after(ahead, [1, 7]);
  sequence.cached = 0;
  assert.deepEqual(await after(ahead, [1, 7, 8]), [8, 3]);
  assert.equal(sequence.steps.length, 3);
});

test('a prefill tells nothing of what a step costs, nor does one whose cache was lost', async () => {
  const drafter = drafting();
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafter);
  await after(ahead, Array(65).fill(1));
  sequence.lost = 1;
  await after(ahead, [...Array(65).fill(1), 2]);
  assert.ok(drafter.told.every(([what]) => what === 'draft'));
});

test('a step that fails leaves nothing that a later one could take', async () => {
  const sequence = new TellingSequence();
  const ahead = new Lookahead(sequence, drafting([7, 8], [9]));
  await after(ahead, [1]);
  sequence.failure = new Error('lost');
  await assert.rejects(after(ahead, [1, 3]), /lost/);
  assert.deepEqual(await after(ahead, [1, 7]), [7, 2]);
  assert.equal(sequence.steps.length, 2);
});
