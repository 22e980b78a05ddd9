import { InvalidSamplingParameter } from './errors.js';

/** @typedef {import('../../types/gatelink.d.ts').SamplingParams} SamplingParams */

export const MAX_BIASED_TOKENS = 1024;
const MAX_TOP_K = 2 ** 31 - 1;
const SEEDS = 2n ** 64n;

/** Greedy: temperature 0 (greedy), topK 0, topP 1 and minP 0 (off), no penalties, seed null (random). */
export const DEFAULTS = /** @type {Readonly<SamplingParams>} */ (
  Object.freeze({
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    repetitionPenalty: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    seed: null,
    logitBias: new Map(),
    banned: new Set(),
  })
);

/**
 * Sampling parameters, checked. A field that is missing, undefined or null is that of `defaults`, then that
 * of DEFAULTS; other fields are not looked at. Penalties and bias also apply to greedy choices.
 *
 * Forms that JSON has are read too: `seed` as decimal text, `logitBias` as an object with token ids as keys,
 * `banned` as a list. Throws InvalidSamplingParameter.
 * @param {Record<string, any>} fields in snake_case or camelCase
 * @param {Record<string, any>} [defaults] likewise
 * @returns {SamplingParams}
 */
export function paramsFrom(fields, defaults = {}) {
  const given = (/** @type {string} */ name) => field(fields, name) ?? field(defaults, name);
  /** @type {(name: string, inside: (value: number) => boolean, allowed: string) => number} */
  const real = (name, inside, allowed) =>
    checkedReal(name, given(name) ?? field(DEFAULTS, name), inside, allowed);
  return {
    temperature: real('temperature', (value) => value >= 0 && value <= 100, 'in 0..100, 0: greedy'),
    topK: checkedTopK(given('top_k') ?? DEFAULTS.topK),
    topP: real('top_p', (value) => value > 0 && value <= 1, 'above 0 and at most 1, 1: off'),
    minP: real('min_p', (value) => value >= 0 && value <= 1, 'in 0..1, 0: off'),
    repetitionPenalty: real('repetition_penalty', (value) => value >= 0.01 && value <= 100, 'in 0.01..100'),
    presencePenalty: real('presence_penalty', (value) => Math.abs(value) <= 2, 'in -2..2'),
    frequencyPenalty: real('frequency_penalty', (value) => Math.abs(value) <= 2, 'in -2..2'),
    seed: checkedSeed(given('seed') ?? null),
    logitBias: checkedBias(given('logit_bias') ?? DEFAULTS.logitBias),
    banned: checkedBanned(given('banned') ?? DEFAULTS.banned),
  };
}

/** @param {Record<string, any>} fields @param {string} name snake_case */
function field(fields, name) {
  return fields[name] ?? fields[name.replace(/_(.)/g, (_, letter) => letter.toUpperCase())];
}

/**
 * @param {string} name @param {unknown} value @param {(value: number) => boolean} inside
 * @param {string} allowed
 */
function checkedReal(name, value, inside, allowed) {
  if (typeof value !== 'number' || !inside(value)) throw new InvalidSamplingParameter(name, value, allowed);
  return value;
}

/** @param {unknown} value */
function checkedTopK(value) {
  if (isWhole(value) && value <= MAX_TOP_K) return value;
  throw new InvalidSamplingParameter('top_k', value, 'a whole number, 0: off');
}

/** @param {unknown} value @returns {bigint | null} */
function checkedSeed(value) {
  if (value === null) return null;
  const seed = asBigInt(value);
  if (seed === null || seed < 0n || seed >= SEEDS) {
    throw new InvalidSamplingParameter('seed', value, 'a whole number in 0..2^64-1, or none');
  }
  return seed;
}

/** @param {unknown} value */
function asBigInt(value) {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(/** @type {number} */ (value));
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? BigInt(value) : null;
}

/** @param {unknown} value @returns {Map<number, number>} */
function checkedBias(value) {
  const allowed = `at most ${MAX_BIASED_TOKENS} token ids with a number in -100..100 each`;
  const pairs = biasPairs(value);
  if (pairs === null || pairs.length > MAX_BIASED_TOKENS) {
    throw new InvalidSamplingParameter('logit_bias', value, allowed);
  }
  for (const [token, bias] of pairs) {
    if (!isWhole(token)) throw new InvalidSamplingParameter('logit_bias', token, allowed);
    if (!(typeof bias === 'number' && Math.abs(bias) <= 100)) {
      throw new InvalidSamplingParameter('logit_bias', bias, allowed);
    }
  }
  return new Map(pairs);
}

/** @param {unknown} value @returns {[any, any][] | null} */
function biasPairs(value) {
  if (value instanceof Map) return [...value];
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value) || value instanceof Set) return null;
  return Object.entries(value).map(withNumber);
}

/** @param {[string, unknown]} pair @returns {[unknown, unknown]} */
function withNumber([key, bias]) {
  return [/^(0|[1-9]\d*)$/.test(key) ? Number(key) : key, bias];
}

/** @param {unknown} value @returns {Set<number>} */
function checkedBanned(value) {
  const allowed = 'a set of token ids';
  const isSet = value instanceof Set || Array.isArray(value);
  if (!isSet) throw new InvalidSamplingParameter('banned', value, allowed);
  for (const token of value) {
    if (!isWhole(token)) throw new InvalidSamplingParameter('banned', token, allowed);
  }
  return new Set(value);
}

/** @param {unknown} value @returns {value is number} */
function isWhole(value) {
  return Number.isSafeInteger(value) && /** @type {number} */ (value) >= 0;
}
