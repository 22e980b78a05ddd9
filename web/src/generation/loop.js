// The decode loop of the web app: prompt in, tokens out. Python has one as well
// (device_client/split_client/generation/loop.py); tests/vectors/decoding.json drives both.
import { InvalidSamplingParameter } from './errors.js';
import { Grace } from './grace.js';
import { NextToken } from './speculation/next_token.js';
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
 * `text` is what the token makes showable, often with delay and sometimes empty. `rows` were sent to get it, `drafted`
 * of them as a guess at what follows it; the tokens that such a step brings besides have no rows and no time of the
 * server. `forced`: the form left no choice. `logprobs`: null unless they were asked for. `hidden`: the state [H] that
 * it was chosen from, null where the form left no choice.
 * @typedef {{type: 'token', token: number, text: string, probability: number, rows: number, drafted: number,
 *   forced: boolean, timing: Timing, logprobs: TokenLogprobs | null, hidden: Float32Array | null}} TokenEvent
 */
/**
 * `text` is what was still held back.
 * @typedef {{type: 'finished', reason: Reason, text: string}} Finished
 */
/**
 * The hidden state after the last token; times in seconds. `drafted` of the rows came behind it; none where missing.
 * @typedef {{hidden: Float32Array, rows: number, drafted?: number, compute: number, queue: number,
 *   wire: number}} Extended
 */
/**
 * `sure`: tokens that follow for certain, and whose states will be asked for. `most`: so many tokens may follow the
 * next one. `permitted`: how many of the first of some tokens may come next, by the reply's form; null: all.
 * @typedef {{signal: AbortSignal, sure?: readonly number[], most?: number,
 *   permitted?: ((tokens: readonly number[]) => Promise<number>) | null}} Wished
 */
/**
 * What the loop needs of session/sequence.js, or of speculation/lookahead.js before it.
 * @typedef {object} Extending
 * @property {(tokens: number[], wished: Wished) => Promise<Extended>} extend
 * @property {(options: {signal: AbortSignal}) => Promise<number>} maxContext
 * @property {boolean} [reachable] false: no answer can come at present
 * @property {boolean} [eachRow] true: it is asked for every token of the reply, also for those that are forced
 * @property {(seconds: number) => void} [chose] told how long the choice of a token took
 */
/**
 * What the loop needs of a sampler.
 * @typedef {object} Choosing
 * @property {import('../../types/gatelink.d.ts').LMHead} head
 * @property {{banned: ReadonlySet<number>}} [params]
 * @property {(hidden: Float32Array, prompt: number[], generated: number[], drawIndex: number,
 *   allowed: Uint8Array | null) => Promise<{token: number, probability: number}>} choose
 */
/**
 * @template T
 * @typedef {T | Promise<T>} Soon
 */
/**
 * What limits a reply to a form, token by token: a grammar, for example. The state of one reply. `remaining`: how
 * many tokens the reply may still have, the next one included (at least 1).
 * @typedef {object} Constraint
 * @property {(remaining: number) => Soon<Uint8Array | null>} allowed which tokens may come next, a mask [rows]; null:
 *   every token
 * @property {(token: number) => Soon<void>} accept it was chosen from what was allowed, or was forced
 * @property {boolean} finished nothing may follow
 * @property {(remaining: number) => Soon<readonly number[]>} forced the tokens that come next whatever is chosen, as
 *   at each of them the mask has one bit; at most `remaining`. It does not move.
 * @property {(tokens: readonly number[], remaining: number) => Soon<number>} permitted how many of the first of
 *   `tokens` may come one after the other. It does not move.
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
 * @param {number[]} [options.begun] the first tokens of the reply, which are there already: what follows is what would
 *   have followed them, draws and penalties included. `limits` count what is new, and `constraint` has accepted them
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
  const { begun = [], signal, constraint = null, logprobs = null, clock = seconds, later } = options;
  checkLimits(limits, logprobs);
  const tokens = [...prompt, ...begun];
  const generated = [...begun];
  for (const token of begun) detokenizer.push(token);
  const most = begun.length + limits.maxTokens;
  const stops = new StopFilter(limits.stops);
  const promising = () => sequence.reachable ?? true;
  const grace = new Grace(signal, GRACE_MILLISECONDS, { wait: later, promising });
  const following = new NextToken(sequence, sampler, { constraint, logprobs, maxTokens: most, clock });
  /** @type {Reason | null} */
  let reason = grace.asked ? 'cancelled' : endOf(begun, limits, constraint);
  try {
    while (reason === null) {
      const began = clock();
      const next = await following.after(tokens, prompt, generated, grace);
      if (next === null) break;
      tokens.push(next.token);
      generated.push(next.token);
      const ended = limits.eosTokenIds.has(next.token);
      const text = ended ? '' : stops.push(detokenizer.push(next.token));
      yield tokenEvent(next, text, clock() - began);
      if (ended) reason = 'eos';
      else if (stops.stopped || constraint?.finished) reason = 'stop';
      else if (generated.length >= most) reason = 'length';
      else reason = await contextOrStop(sequence, tokens, grace);
    }
    const text = stops.push(detokenizer.flush()) + stops.flush();
    yield { type: 'finished', reason: reason ?? 'cancelled', text };
  } finally {
    grace.close();
  }
}

/**
 * Why nothing follows a reply that is there so far.
 * @param {number[]} begun @param {Limits} limits @param {Constraint | null} constraint
 * @returns {Reason | null}
 */
function endOf(begun, { eosTokenIds }, constraint) {
  if (!begun.length) return null;
  if (eosTokenIds.has(begun[begun.length - 1])) return 'eos';
  return constraint?.finished ? 'stop' : null;
}

/**
 * @param {import('./speculation/next_token.js').Next} next @param {string} text @param {number} total seconds
 * @returns {TokenEvent}
 */
function tokenEvent({ token, probability, forced, extended, logprobs }, text, total) {
  const { rows, drafted = 0 } = extended;
  const timing = timingOf(extended, total);
  const hidden = forced ? null : extended.hidden;
  return { type: 'token', token, text, probability, rows, drafted, forced, timing, logprobs, hidden };
}

/**
 * @param {Extending} sequence @param {number[]} tokens @param {Grace} grace
 * @returns {Promise<Reason | null>}
 */
async function contextOrStop(sequence, tokens, grace) {
  const most = await grace.unlessOver(sequence.maxContext({ signal: grace.signal }));
  if (most !== null && tokens.length > most) return 'context';
  return grace.asked ? 'cancelled' : null;
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
