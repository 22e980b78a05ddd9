// Replies of a scripted model, plainly and looking ahead, from one seed each.
import { decode } from '../../../src/generation/loop.js';
import { paramsFrom } from '../../../src/generation/params.js';
import { Sampler } from '../../../src/generation/sampler.js';
import { Sequence } from '../../../src/session/sequence.js';
import { PlainHead } from '../plain_head.js';
import { randomNumbers } from '../random.js';
import { ScriptedBackend } from '../scripted_backend.js';

export const VOCABULARY = 20;
const END = 0;
const MEMORY = [1, 0.5, 0.25];

/** @typedef {() => number} Chance */
/** @typedef {ReturnType<typeof caseOf>} Case */

/** @param {Chance} chance @param {number} count */
const below = (chance, count) => Math.floor(chance() * count);
/** @template T @param {Chance} chance @param {readonly T[]} values @returns {T} */
const oneOf = (chance, values) => values[below(chance, values.length)];

/** Letters for ids. @param {readonly number[]} tokens */
export const lettersOf = (tokens) => tokens.map((token) => String.fromCharCode(97 + token)).join('');

/** All that a reply depends on. @param {number} seed */
export function caseOf(seed) {
  const chance = randomNumbers(seed);
  const token = () => 1 + below(chance, VOCABULARY - 1);
  const prompt = Array.from({ length: 1 + below(chance, 12) }, token);
  const maxTokens = 1 + below(chance, 40);
  return {
    seed,
    // Of the end token a state says little, so that replies grow.
    head: Float32Array.from({ length: VOCABULARY * VOCABULARY }, (_, at) =>
      chance() * (at < VOCABULARY ? 2 : oneOf(chance, [1, 6]))),
    prompt,
    params: {
      temperature: oneOf(chance, [0, 0, 0.6, 1.3]), top_k: oneOf(chance, [0, 0, 4]), top_p: oneOf(chance, [1, 0.8]),
      min_p: oneOf(chance, [0, 0, 0.1]), repetition_penalty: oneOf(chance, [1, 1, 1.2]),
      presence_penalty: oneOf(chance, [0, 0.5]), frequency_penalty: oneOf(chance, [0, 0.3]), seed: BigInt(seed),
      logit_bias: chance() < 0.3 ? { [token()]: 2 } : {}, banned: chance() < 0.2 ? [token()] : [],
    },
    limits: {
      eosTokenIds: new Set([END]), maxTokens, stops: chance() < 0.3 ? [lettersOf([token(), token()])] : [],
    },
    logprobs: oneOf(chance, [null, null, null, 2]),
    cancelledAt: chance() < 0.15 ? 1 + below(chance, maxTokens) : null,
    formed: chance() < 0.5,
    session: {
      max_rows: oneOf(chance, [1, 3, 16, 64]), max_context: prompt.length + oneOf(chance, [0, 5, 100, 100, 100]),
      lost: chance() < 0.3 ? [below(chance, 8), 9 + below(chance, 9)] : [],
    },
    rows: oneOf(chance, [16, 16, 4]),
    late: chance() < 0.5,
  };
}

/**
 * A form that decides by what was accepted: everything, some tokens or one alone. `late`: it answers later, as one in
 * a worker does. `telling`: whether it says which tokens are forced.
 */
export class SeededForm {
  /** @param {number} seed @param {{late: boolean, telling: boolean}} options */
  constructor(seed, { late, telling }) {
    this._seed = seed;
    this._telling = telling;
    this._soon = late ? async (/** @type {any} */ value) => value : (/** @type {any} */ value) => value;
    /** @type {number[]} */
    this.accepted = [];
  }

  /** @param {number} remaining */
  allowed(remaining) {
    if (remaining < 1) throw new Error('asked for no token');
    const ids = this._ids(this.accepted);
    return this._soon(ids && Uint8Array.from({ length: VOCABULARY }, (_, id) => (ids.includes(id) ? 1 : 0)));
  }

  /** @param {number} token */
  accept(token) {
    if (this._ids(this.accepted)?.includes(token) === false) throw new Error('not allowed');
    this.accepted.push(token);
    return this._soon(undefined);
  }

  get finished() {
    return this._isEnd(this.accepted);
  }

  /** @param {number} remaining */
  forced(remaining) {
    /** @type {number[]} */
    const forced = [];
    for (let after = this.accepted; this._telling && forced.length < remaining && !this._isEnd(after); ) {
      const ids = this._ids(after);
      if (ids?.length !== 1) break;
      forced.push(ids[0]);
      after = [...after, ids[0]];
    }
    return this._soon(forced);
  }

  /** @param {readonly number[]} tokens */
  permitted(tokens) {
    let count = 0;
    const after = () => [...this.accepted, ...tokens.slice(0, count)];
    while (count < tokens.length && !this._isEnd(after()) && this._ids(after())?.includes(tokens[count]) !== false) count++;
    return this._soon(count);
  }

  /** @param {number[]} after */
  _isEnd(after) {
    return after.length > 6 && this._chance(after)() < 0.03;
  }

  /** @param {number[]} after @returns {number[] | null} */
  _ids(after) {
    const chance = this._chance(after);
    chance();
    const kind = chance();
    if (kind < 0.4) return null;
    return Array.from({ length: kind < 0.75 ? 1 : 6 }, () => 1 + below(chance, VOCABULARY - 1));
  }

  /** @param {number[]} after */
  _chance(after) {
    return randomNumbers(after.reduce((hash, token) => Math.imul(hash ^ token, 16777619), this._seed) + after.length);
  }
}

/**
 * A drafter that knows the reply, and is wrong now and then; or knows nothing.
 * @param {readonly number[]} whole prompt and reply @param {Chance} chance
 */
export function guessing(whole, chance) {
  /** @type {[number, number][]} */
  const judged = [];
  const draft = async (/** @type {number[]} */ tokens, /** @type {number} */ most, /** @type {any} */ permitted) => {
    const right = whole.slice(tokens.length, tokens.length + Math.min(most, below(chance, 16)));
    const guess = right.map((token) => (chance() < 0.12 ? below(chance, VOCABULARY) : token));
    const count = permitted ? await permitted(guess) : guess.length;
    return { source: /** @type {const} */ ('suffix'), tokens: guess.slice(0, count), match: 1 };
  };
  const judge = (/** @type {any} */ { tokens }, /** @type {number} */ accepted) => void judged.push([tokens.length, accepted]);
  return { draft, judged: judge, told: judged, stepped() {}, head() {}, replied() {} };
}

/**
 * @param {Case} about
 * @param {{through?: (sequence: Sequence) => any, sampling?: (sampler: Sampler) => any, telling?: boolean}} [how]
 *   `through`: what the loop asks in place of the sequence; `telling`: forms say what is forced
 */
export async function replyOf(about, { through = (sequence) => sequence, sampling = (sampler) => sampler, telling = true } = {}) {
  const { prompt, limits, logprobs, cancelledAt, session, formed, late, seed } = about;
  const backend = Object.assign(new ScriptedBackend(session, { memory: MEMORY, bytes: Array(VOCABULARY).fill('') }), {
    interactiveRows: about.rows,
  });
  const sequence = new Sequence(backend, async (tokens, start, stop) => {
    const rows = new Float32Array((stop - start) * VOCABULARY);
    for (let i = start; i < stop; i++) rows[(i - start) * VOCABULARY + tokens[i]] = 1;
    return rows;
  });
  const sampler = sampling(new Sampler(new PlainHead(about.head, VOCABULARY), paramsOf(about)));
  const constraint = formed ? new SeededForm(seed, { late, telling }) : null;
  const stop = new AbortController();
  const detokenizer = { push: (/** @type {number} */ token) => lettersOf([token]), flush: () => '' };
  const asked = through(sequence);
  const options = { signal: stop.signal, constraint, logprobs, later: () => () => {} };
  /** @type {any[]} */
  const events = [];
  try {
    for await (const event of decode(asked, sampler, detokenizer, prompt, limits, options)) {
      events.push(event);
      if (events.length === cancelledAt) stop.abort();
    }
  } catch (error) {
    events.push({ type: 'failed', code: /** @type {any} */ (error).code ?? String(error) });
  }
  return { events, asked, sequence, attempts: backend.attempts, ids: events.flatMap(({ type, token }) => (type === 'token' ? [token] : [])) };
}

/** @param {Case} about */
function paramsOf({ params: { banned, ...params } }) {
  return { ...paramsFrom(params), banned: new Set(banned) };
}

/** What of a reply must not depend on how it was made. @param {any[]} events */
export function told(events) {
  return events.map(({ type, token, text, probability, logprobs, reason, code }) => ({
    type, token, text, probability, logprobs, reason, code,
  }));
}
