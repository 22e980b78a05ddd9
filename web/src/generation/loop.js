// The decode loop of the web app: prompt in, tokens out. Python has one as well
// (device_client/split_client/generation/loop.py); tests/vectors/decoding.json drives both.
import { InvalidSamplingParameter } from './errors.js';
import { Grace } from './grace.js';
import { StopFilter } from './stops.js';

/** @typedef {'eos' | 'stop' | 'length' | 'context' | 'cancelled'} Reason */
/**
 * When a reply ends.
 * @typedef {{eosTokenIds: ReadonlySet<number>, maxTokens: number, stops: readonly string[]}} Limits
 */
/**
 * Seconds for one token: total = device + engine + queue + wire.
 * @typedef {{total: number, engine: number, queue: number, wire: number, device: number}} Timing
 */
/**
 * Those of the model alone; `top`: [id, logprob] by (-logprob, id).
 * @typedef {{logprob: number, top: [number, number][]}} TokenLogprobs
 */
/**
 * `text` is what the token makes showable, often with delay and sometimes empty; `rows` were sent to get it.
 * `logprobs`: null unless they were asked for.
 * @typedef {{type: 'token', token: number, text: string, probability: number, rows: number,
 *   timing: Timing, logprobs: TokenLogprobs | null}} TokenEvent
 */
/**
 * `text` is what was still held back.
 * @typedef {{type: 'finished', reason: Reason, text: string}} Finished
 */
/**
 * The hidden state after the last token; times in seconds.
 * @typedef {{hidden: Float32Array, rows: number, compute: number, queue: number, wire: number}} Extended
 */
/**
 * What the loop needs of session/sequence.js.
 * @typedef {object} Extending
 * @property {(tokens: number[], options: {signal: AbortSignal}) => Promise<Extended>} extend
 * @property {(options: {signal: AbortSignal}) => Promise<number>} maxContext
 * @property {boolean} [reachable] false: no answer can come at present
 */
/**
 * What the loop needs of a sampler.
 * @typedef {object} Choosing
 * @property {import('../../types/gatelink.d.ts').LMHead} head
 * @property {(hidden: Float32Array, prompt: number[], generated: number[], drawIndex: number,
 *   allowed: Uint8Array | null) => Promise<{token: number, probability: number}>} choose
 */
/**
 * What limits a reply to a form, token by token: a grammar, for example. The state of one reply.
 * @typedef {object} Constraint
 * @property {(remaining: number) => Uint8Array | null} allowed which tokens may come next, a mask [rows]; null:
 *   every token. `remaining`: how many tokens the reply may still have, this one included (at least 1)
 * @property {(token: number) => void} accept it was chosen from what was allowed
 * @property {boolean} finished nothing may follow
 */
/** @typedef {{push: (token: number) => string, flush: () => string}} Detokenizing */

// A stop waits so long for the step under way before it breaks the exchange off. Longer is felt, and what is
// broken off costs one more sending before the next reply.
export const GRACE_MILLISECONDS = 500;
const MAX_TOP_LOGPROBS = 20;

/**
 * Continues `prompt` token by token until a limit; the last event is the one of type 'finished'.
 *
 * `signal` ends the reply after the token under way, at once where no answer can come; a server that does not
 * answer in time is not waited for.
 * Throws InvalidSamplingParameter for `maxTokens` and `logprobs`, and the errors of sequence, sampler, detokenizer
 * and constraint.
 * @param {Extending} sequence
 * @param {Choosing} sampler
 * @param {Detokenizing} detokenizer at its beginning
 * @param {number[]} prompt
 * @param {Limits} limits
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {Constraint | null} [options.constraint] only what it allows is chosen, and the reply stops when it has
 *   finished
 * @param {number | null} [options.logprobs] each event tells the chosen token's and those of so many most likely
 *   ones (0..20)
 * @param {() => number} [options.clock] seconds
 * @param {import('./grace.js').Later} [options.later]
 * @returns {AsyncGenerator<TokenEvent | Finished, void, void>}
 */
export async function* decode(sequence, sampler, detokenizer, prompt, limits, options = {}) {
  const { signal, constraint = null, logprobs = null, clock = seconds, later } = options;
  checkLimits(limits, logprobs);
  const tokens = [...prompt];
  /** @type {number[]} */
  const generated = [];
  const stops = new StopFilter(limits.stops);
  const promising = () => sequence.reachable ?? true;
  const grace = new Grace(signal, GRACE_MILLISECONDS, { wait: later, promising });
  /** @type {Reason | null} */
  let reason = grace.asked ? 'cancelled' : null;
  try {
    while (reason === null) {
      const began = clock();
      const extended = await unlessStopped(grace, sequence.extend(tokens, { signal: grace.signal }));
      if (extended === null) break;
      const { hidden, rows } = extended;
      const count = generated.length;
      const allowed =
        constraint &&
        constraint.allowed(Math.min(limits.maxTokens - count, await roomAfter(sequence, tokens, grace)));
      const { token, probability } = await sampler.choose(hidden, prompt, generated, count, allowed);
      constraint?.accept(token);
      const likely = logprobs === null ? null : await logprobsOf(sampler.head, hidden, token, logprobs);
      tokens.push(token);
      generated.push(token);
      const ended = limits.eosTokenIds.has(token);
      const text = ended ? '' : stops.push(detokenizer.push(token));
      const timing = timingOf(extended, clock() - began);
      yield { type: 'token', token, text, probability, rows, timing, logprobs: likely };
      if (ended) reason = 'eos';
      else if (stops.stopped || constraint?.finished) reason = 'stop';
      else if (generated.length >= limits.maxTokens) reason = 'length';
      else reason = await contextOrStop(sequence, tokens, grace);
    }
    const text = stops.push(detokenizer.flush()) + stops.flush();
    yield { type: 'finished', reason: reason ?? 'cancelled', text };
  } finally {
    grace.close();
  }
}

/**
 * The number of tokens that may follow before the context is full: the last one needs no position. The session
 * is open.
 * @param {Extending} sequence @param {number[]} tokens @param {Grace} grace
 */
async function roomAfter(sequence, tokens, grace) {
  return (await sequence.maxContext({ signal: grace.signal })) + 1 - tokens.length;
}

/**
 * Few replies ask for them, so their code is loaded by the first that does.
 * @param {import('../../types/gatelink.d.ts').LMHead} head @param {Float32Array} hidden
 * @param {number} token @param {number} count
 * @returns {Promise<TokenLogprobs>}
 */
async function logprobsOf(head, hidden, token, count) {
  const { tokenLogprobs } = await import('./logprobs.js');
  return tokenLogprobs(head, hidden, token, count);
}

/**
 * @param {Extending} sequence @param {number[]} tokens @param {Grace} grace
 * @returns {Promise<Reason | null>}
 */
async function contextOrStop(sequence, tokens, grace) {
  const most = await unlessStopped(grace, sequence.maxContext({ signal: grace.signal }));
  if (most !== null && tokens.length > most) return 'context';
  return grace.asked ? 'cancelled' : null;
}

/**
 * What `pending` brings, or null where it was broken off because the reply was stopped.
 * @template T
 * @param {Grace} grace
 * @param {Promise<T>} pending
 */
async function unlessStopped(grace, pending) {
  try {
    return await pending;
  } catch (error) {
    if (grace.over) return null;
    throw error;
  }
}

/** @param {Limits} limits @param {number | null} logprobs */
function checkLimits({ maxTokens }, logprobs) {
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw new InvalidSamplingParameter('max_tokens', maxTokens, 'a whole number from 1');
  }
  const inside =
    logprobs === null || (Number.isInteger(logprobs) && logprobs >= 0 && logprobs <= MAX_TOP_LOGPROBS);
  if (!inside) {
    throw new InvalidSamplingParameter('logprobs', logprobs, `a whole number in 0..${MAX_TOP_LOGPROBS}, or none`);
  }
}

/** @param {Extended} extended @param {number} total @returns {Timing} */
function timingOf({ compute, queue, wire }, total) {
  return { total, engine: compute, queue, wire, device: Math.max(0, total - compute - queue - wire) };
}

function seconds() {
  return performance.now() / 1000;
}
