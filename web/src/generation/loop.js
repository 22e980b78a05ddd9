// The decode loop: prompt in, tokens out. There is no other one.
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
 * `text` is what the token makes showable, often with delay and sometimes empty; `rows` were sent to get it.
 * @typedef {{type: 'token', token: number, text: string, probability: number, rows: number,
 *   timing: Timing}} TokenEvent
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
 * @typedef {object} Choosing
 * @property {(hidden: Float32Array, prompt: number[], generated: number[], drawIndex: number) =>
 *   Promise<{token: number, probability: number}>} choose
 */
/** @typedef {{push: (token: number) => string, flush: () => string}} Detokenizing */

// A stop waits so long for the step under way before it breaks the exchange off. Longer is felt, and what is
// broken off costs one more sending before the next reply.
export const GRACE_MILLISECONDS = 500;

/**
 * Continues `prompt` token by token until a limit; the last event is the one of type 'finished'.
 *
 * `signal` ends the reply after the token under way, at once where no answer can come; a server that does not
 * answer in time is not waited for.
 * Throws InvalidSamplingParameter for `maxTokens` and the errors of sequence, sampler and detokenizer.
 * @param {Extending} sequence
 * @param {Choosing} sampler
 * @param {Detokenizing} detokenizer at its beginning
 * @param {number[]} prompt
 * @param {Limits} limits
 * @param {{signal?: AbortSignal, clock?: () => number, later?: import('./grace.js').Later}} [options]
 *   `clock` in seconds
 * @returns {AsyncGenerator<TokenEvent | Finished, void, void>}
 */
export async function* decode(sequence, sampler, detokenizer, prompt, limits, options = {}) {
  const { signal, clock = seconds, later } = options;
  checkLimits(limits);
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
      const { token, probability } = await sampler.choose(hidden, prompt, generated, generated.length);
      tokens.push(token);
      generated.push(token);
      const ended = limits.eosTokenIds.has(token);
      const text = ended ? '' : stops.push(detokenizer.push(token));
      const timing = timingOf(extended, clock() - began);
      yield { type: 'token', token, text, probability, rows, timing };
      if (ended) reason = 'eos';
      else if (stops.stopped) reason = 'stop';
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

/** @param {Limits} limits */
function checkLimits({ maxTokens }) {
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw new InvalidSamplingParameter('max_tokens', maxTokens, 'a whole number from 1');
  }
}

/** @param {Extended} extended @param {number} total @returns {Timing} */
function timingOf({ compute, queue, wire }, total) {
  return { total, engine: compute, queue, wire, device: Math.max(0, total - compute - queue - wire) };
}

function seconds() {
  return performance.now() / 1000;
}
