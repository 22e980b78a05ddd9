// tests/vectors/decoding.json, which Python's decode loop meets too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decode } from '../../src/generation/loop.js';
import { paramsFrom } from '../../src/generation/params.js';
import { Sampler } from '../../src/generation/sampler.js';
import { Sequence } from '../../src/session/sequence.js';
import { Detokenizer } from '../../src/text/tokenizer/detokenizer.js';
import { ModelTokenizer } from '../../src/text/tokenizer/tokenizer.js';
import { PlainHead } from './plain_head.js';
import { ScriptedBackend } from './scripted_backend.js';

const file = new URL('../../../tests/vectors/decoding.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8'));
const { model } = vectors;
const VOCABULARY = model.bytes.length;
const tokenizer = ModelTokenizer.open(JSON.stringify(vectors.tokenizer), VOCABULARY);

/** A constraint of the vectors, and how many tokens it was told to have left. */
class ScriptedForm {
  /** @param {{allowed: (number[] | null)[], finished_after: number | null}} form */
  constructor(form) {
    this._form = form;
    this._accepted = 0;
    /** @type {number[]} */
    this.remaining = [];
  }

  /** @param {number} remaining */
  allowed(remaining) {
    this.remaining.push(remaining);
    const ids = this._form.allowed[this._accepted] ?? null;
    return ids && Uint8Array.from({ length: VOCABULARY }, (_, id) => (ids.includes(id) ? 1 : 0));
  }

  accept() {
    this._accepted++;
  }

  /** The vectors choose where one token is left, too. */
  forced() {
    return [];
  }

  /** @param {readonly number[]} tokens */
  permitted(tokens) {
    const refused = tokens.findIndex((token, i) => this._form.allowed[this._accepted + i]?.includes(token) === false);
    return refused < 0 ? tokens.length : refused;
  }

  get finished() {
    return this._accepted === this._form.finished_after;
  }
}

/** A session of the vectors, one turn after another over the same sequence. */
class Played {
  /** @param {any} session */
  constructor(session) {
    this.backend = new ScriptedBackend(session, model);
    this._sequence = new Sequence(this.backend, async (tokens, start, stop) => {
      const rows = new Float32Array((stop - start) * VOCABULARY);
      for (let i = start; i < stop; i++) rows[(i - start) * VOCABULARY + tokens[i]] = 1;
      return rows;
    });
  }

  /** @param {any} turn @param {ScriptedForm | null} constraint */
  async events(turn, constraint = turn.constraint ? new ScriptedForm(turn.constraint) : null) {
    const { prompt, begun = [], max_tokens: maxTokens, cancelled_at: last = null, logprobs = null, stops = [] } = turn;
    for (const _ of begun) constraint?.accept();
    const there = prompt.length + begun.length;
    const head = new PlainHead(Float32Array.from(model.head.flat()), VOCABULARY);
    const sampler = new Sampler(head, paramsFrom(turn.params ?? {}));
    const limits = { eosTokenIds: new Set(turn.end_tokens), maxTokens, stops };
    const stop = new AbortController();
    if (last === 0) stop.abort();
    this.backend.onStep = (positions) => last !== null && positions === there + last - 1 && stop.abort();
    const options = { begun, signal: stop.signal, constraint, logprobs, later: () => () => {} };
    const detokenizer = new Detokenizer(tokenizer);
    /** @type {any[]} */
    const events = [];
    for await (const event of decode(this._sequence, sampler, detokenizer, prompt, limits, options)) {
      events.push(event);
    }
    return events;
  }

  /** The events of a turn, in the words of the vectors. @param {any} turn */
  async told(turn) {
    const before = this.backend.attempts.length;
    const form = turn.constraint ? new ScriptedForm(turn.constraint) : null;
    const events = await this.events(turn, form);
    const tokens = events.slice(0, -1);
    assert.equal(events.at(-1).type, 'finished');
    return {
      ids: tokens.map((event) => event.token),
      reason: events.at(-1).reason,
      pieces: events.map((event) => event.text),
      rows: tokens.map((event) => event.rows),
      steps: this.backend.attempts.slice(before),
      probabilities: tokens.map((event) => event.probability),
      remaining: form?.remaining ?? [],
      logprobs: tokens.map((event) => event.logprobs),
    };
  }
}

/** @param {number[]} told @param {number[]} wanted @param {number} relative */
function near(told, wanted, relative) {
  assert.equal(told.length, wanted.length);
  told.forEach((value, i) => {
    assert.ok(Math.abs(value - wanted[i]) <= relative * Math.abs(wanted[i]), `${value}, not ${wanted[i]}`);
  });
}

/** @param {any[]} told @param {any[] | undefined} expected */
function checkLogprobs(told, expected) {
  if (expected === undefined) return assert.deepEqual(told, told.map(() => null));
  const values = (/** @type {any[]} */ all) =>
    all.flatMap(({ logprob, top }) => [logprob, ...top.map((/** @type {number[]} */ pair) => pair[1])]);
  const ids = (/** @type {any[]} */ all) => all.map(({ top }) => top.map((/** @type {number[]} */ pair) => pair[0]));
  assert.deepEqual(ids(told), ids(expected));
  near(values(told), values(expected), 1e-6);
}

/** Text of ids behind others; a character that these begin is theirs. @param {number[]} before @param {number[]} ids */
function decodedAfter(before, ids) {
  const stream = tokenizer.stream(true);
  for (const id of before) stream.push(id);
  return ids.map((id) => stream.push(id)).join('') + stream.flush();
}

test('the file has the parts that are tested here', () => {
  assert.equal(vectors.format, 1);
  assert.deepEqual(Object.keys(vectors), ['format', 'tokenizer', 'model', 'cases', 'refusals']);
});

for (const { name, session, turns } of vectors.cases) {
  test(`a session: ${name}`, async () => {
    const played = new Played(session);
    for (const { expected, ...turn } of turns) {
      const told = await played.told(turn);
      const { ids, reason, text, stop, pieces = told.pieces, steps, rows, remaining = [] } = expected;
      assert.deepEqual([told.ids, told.reason], [ids, reason]);
      assert.equal(told.pieces.join(''), text);
      assert.deepEqual(told.pieces, pieces);
      assert.ok(decodedAfter(turn.begun ?? [], ids).startsWith(text + (stop ?? '')));
      assert.deepEqual([told.rows, told.steps], [rows, steps.flat()]);
      assert.deepEqual(told.remaining, remaining);
      near(told.probabilities, expected.probabilities ?? ids.map(() => 1), 1e-9);
      checkLogprobs(told.logprobs, expected.logprobs_of);
    }
  });
}

for (const { name, session, turns: [turn] } of vectors.refusals) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(async () => new Played(session).events(turn), { code: turn.refused });
  });
}
