import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { GRACE_MILLISECONDS, decode } from '../../src/generation/loop.js';
import { EchoHead } from './plain_head.js';

const EOS = 99;

/** @typedef {(step: number, signal: AbortSignal) => Promise<void> | void} During */

/** A sequence whose hidden state is the number of tokens; `during` runs while a step is under way. */
class FakeSequence {
  /** @param {{context?: number, during?: During}} [options] */
  constructor({ context = 1000, during = () => {} } = {}) {
    this.context = context;
    this.during = during;
    this.reachable = true;
    /** @type {number[][]} */
    this.asked = [];
  }

  /** @param {number[]} tokens @param {{signal: AbortSignal}} options */
  async extend(tokens, { signal }) {
    this.asked.push([...tokens]);
    await this.during(this.asked.length, signal);
    const rows = this.asked.length === 1 ? tokens.length : 1;
    return { hidden: Float32Array.of(tokens.length), rows, compute: 0.25, queue: 0.125, wire: 0.0625 };
  }

  async maxContext() {
    return this.context;
  }
}

/** @param {number[]} tokens */
function choosing(tokens) {
  /** @type {any[]} */
  const calls = [];
  return {
    calls,
    head: new EchoHead(1),
    /**
     * @param {Float32Array} hidden @param {number[]} prompt @param {number[]} generated
     * @param {number} draw
     */
    async choose(hidden, prompt, generated, draw) {
      calls.push({ hidden: hidden[0], prompt: [...prompt], generated: [...generated], draw });
      return { token: tokens[draw], probability: 0.5 };
    },
  };
}

/** Letters of the alphabet for ids, each held back until the next. */
function detokenizer() {
  let held = '';
  return {
    push(/** @type {number} */ token) {
      const text = held;
      held = String.fromCharCode(97 + token);
      return text;
    },
    flush: () => held,
  };
}

/** @param {number[]} tokens @param {object} [changes] @param {object} [options] */
async function decoded(tokens, changes = {}, options = {}, sequence = new FakeSequence()) {
  const limits = { eosTokenIds: new Set([EOS]), maxTokens: 100, stops: [], ...changes };
  const events = [];
  for await (const event of decode(sequence, choosing(tokens), detokenizer(), [1, 2], limits, options)) {
    events.push(event);
  }
  return events;
}

/** @param {any[]} events */
function summary(events) {
  return [events.map((event) => event.text).join(''), events.length - 1, events.at(-1).reason];
}

test('an end token ends the reply and is not shown', async () => {
  assert.deepEqual(summary(await decoded([0, 1, 2, EOS])), ['abc', 4, 'eos']);
});

test('the reply ends after so many tokens', async () => {
  assert.deepEqual(summary(await decoded([0, 1, 2, 3], { maxTokens: 3 })), ['abc', 3, 'length']);
});

test('a stop string ends the reply before it, also one that only the end completes', async () => {
  assert.deepEqual(summary(await decoded([0, 1, 2, 3, 4], { stops: ['bc'] })), ['a', 4, 'stop']);
  assert.deepEqual(summary(await decoded([0, 1, 2], { stops: ['bc'], maxTokens: 3 })), ['a', 3, 'length']);
});

test('the reply ends when no position is left', async () => {
  const events = await decoded([0, 1, 2, 3], {}, {}, new FakeSequence({ context: 4 }));
  assert.deepEqual(summary(events), ['abc', 3, 'context']);
});

test('each token is asked for with its history and its number, and tells its rows and times', async () => {
  const sequence = new FakeSequence();
  const sampler = choosing([5, 6, EOS]);
  const limits = { eosTokenIds: new Set([EOS]), maxTokens: 10, stops: [] };
  let now = 0;
  const events = [];
  const options = { clock: () => now++ };
  for await (const event of decode(sequence, sampler, detokenizer(), [1, 2], limits, options)) {
    events.push(event);
  }
  assert.deepEqual(sequence.asked, [[1, 2], [1, 2, 5], [1, 2, 5, 6]]);
  assert.deepEqual(sampler.calls[2], { hidden: 4, prompt: [1, 2], generated: [5, 6], draw: 2 });
  const timing = { total: 1, engine: 0.25, queue: 0.125, wire: 0.0625, device: 0.5625 };
  const same = { type: 'token', text: '', probability: 0.5, drafted: 0, forced: false, timing, logprobs: null };
  assert.deepEqual(events[0], { ...same, token: 5, rows: 2, hidden: Float32Array.of(2) });
  assert.deepEqual(events[2], { ...same, token: EOS, rows: 1, hidden: Float32Array.of(4) });
  assert.deepEqual(events[3], { type: 'finished', reason: 'eos', text: 'g' });
});

test('a reply that is begun goes on as if nothing had cut it, and limits count what is new', async () => {
  const sequence = new FakeSequence();
  const sampler = choosing([5, 6, 7, 8, 9]);
  const limits = { eosTokenIds: new Set([EOS]), maxTokens: 2, stops: ['gh'] };
  const events = [];
  for await (const event of decode(sequence, sampler, detokenizer(), [1, 2], limits, { begun: [5, 6] })) {
    events.push(event);
  }
  assert.deepEqual(sequence.asked, [[1, 2, 5, 6], [1, 2, 5, 6, 7]]);
  assert.deepEqual(sampler.calls[0], { hidden: 4, prompt: [1, 2], generated: [5, 6], draw: 2 });
  assert.deepEqual(summary(events), ['', 2, 'stop']);
});

test('nothing follows what has ended, or is whole by its form', async () => {
  assert.deepEqual(summary(await decoded([0, 1], {}, { begun: [0, EOS] })).slice(1), [0, 'eos']);
  const whole = { finished: true, allowed: () => null, accept: () => {}, forced: () => [], permitted: () => 0 };
  assert.deepEqual(summary(await decoded([0, 1], {}, { begun: [0], constraint: whole })).slice(1), [0, 'stop']);
});

test('a stop during a step ends the reply after its token; the exchange is left alone', async () => {
  const stop = new AbortController();
  /** @type {number[]} */
  const waits = [];
  let cancelled = 0;
  const later = (/** @type {() => void} */ _, /** @type {number} */ milliseconds) => {
    waits.push(milliseconds);
    return () => void cancelled++;
  };
  const sequence = new FakeSequence({
    during: (step, signal) => {
      if (step === 2) stop.abort();
      assert.equal(signal.aborted, false);
    },
  });
  const events = await decoded([0, 1, 2, 3], {}, { signal: stop.signal, later }, sequence);
  assert.deepEqual(summary(events), ['ab', 2, 'cancelled']);
  assert.deepEqual([waits, cancelled], [[GRACE_MILLISECONDS], 1]);
});

test('a server that does not answer is not waited for longer than the grace', async () => {
  const stop = new AbortController();
  const during = (/** @type {number} */ step, /** @type {AbortSignal} */ signal) =>
    step < 2
      ? undefined
      : new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new AppError('connection_lost', 'broken off')));
          stop.abort();
        });
  const later = (/** @type {() => void} */ run) => {
    queueMicrotask(run);
    return () => {};
  };
  const sequence = new FakeSequence({ during: /** @type {any} */ (during) });
  const events = await decoded([0, 1], {}, { signal: stop.signal, later }, sequence);
  assert.deepEqual(summary(events), ['a', 1, 'cancelled']);
});

test('without a connection a stop ends the reply at once, with what was received', async () => {
  const stop = new AbortController();
  const during = (/** @type {number} */ step, /** @type {AbortSignal} */ signal) =>
    step < 2
      ? undefined
      : new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new AppError('cancelled', 'broken off')));
          sequence.reachable = false;
          stop.abort();
        });
  const later = () => assert.fail('it waits');
  const sequence = new FakeSequence({ during: /** @type {any} */ (during) });
  const events = await decoded([0, 1], {}, { signal: stop.signal, later }, sequence);
  assert.deepEqual(summary(events), ['a', 1, 'cancelled']);
});

test('a reply that was stopped before it began has no token', async () => {
  const sequence = new FakeSequence();
  const events = await decoded([0, 1], {}, { signal: AbortSignal.abort() }, sequence);
  assert.deepEqual(summary(events), ['', 0, 'cancelled']);
  assert.equal(sequence.asked.length, 0);
});

test('errors pass, also after a stop, unless breaking off made them', async () => {
  const stop = new AbortController();
  const during = () => {
    stop.abort();
    throw new AppError('context_overflow', 'full');
  };
  const later = () => () => {};
  const options = { signal: stop.signal, later };
  await assert.rejects(decoded([0], {}, options, new FakeSequence({ during })), { code: 'context_overflow' });
});

test('a limit below one token is refused', async () => {
  for (const maxTokens of [0, -1, 1.5, NaN, '5']) {
    await assert.rejects(decoded([0], { maxTokens }), { code: 'invalid_sampling_parameter' });
  }
});

test('who leaves the loop early is not followed by a timer', async () => {
  const stop = new AbortController();
  const waits = [];
  const later = () => waits.push(1) && (() => {});
  const limits = { eosTokenIds: new Set([EOS]), maxTokens: 9, stops: [] };
  const options = { signal: stop.signal, later: /** @type {any} */ (later) };
  const events = decode(new FakeSequence(), choosing([1, 2]), detokenizer(), [1], limits, options);
  for await (const event of events) {
    assert.equal(event.type, 'token');
    break;
  }
  stop.abort();
  assert.equal(waits.length, 0);
});
