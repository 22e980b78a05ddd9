/** Checks of each setting; the ranges of sampling fields are those of split_client.generation. */

import { isNoise } from './noise_check.js';
import { isRedaction } from './redaction_check.js';

/** @typedef {import('./types').Settings} Settings */
/** @typedef {(value: unknown) => boolean} Check */

const MAX_BIASED_TOKENS = 1024;
const MAX_STOPS = 16;
const LONGEST_STOP = 1000;
const LONGEST_SYSTEM = 100_000;
// NAME@ORIGIN of an adapter that a host computes.
const LONGEST_NAME = 256;

/** @param {number} low @param {number} high @returns {Check} */
const real = (low, high) => (value) => typeof value === 'number' && value >= low && value <= high;
/** @param {number} low @param {number} high @returns {Check} */
const whole = (low, high) => (value) => Number.isInteger(value) && real(low, high)(value);
/** @param {Check} check @returns {Check} */
const orNull = (check) => (value) => value === null || check(value);
/** @param {...unknown} words @returns {Check} */
const oneOf = (...words) => (value) => words.includes(value);
/** @param {number} longest @param {number} [shortest] @returns {Check} */
const text = (longest, shortest = 0) => (value) =>
  typeof value === 'string' && value.length >= shortest && value.length <= longest;

/** Digits, since JSON has no whole numbers up to 2^64. @type {Check} */
function isSeed(value) {
  return typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) < 2n ** 64n;
}

/** @type {Check} */
function isBias(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const pairs = Object.entries(value);
  const fits = real(-100, 100);
  if (pairs.length > MAX_BIASED_TOKENS) return false;
  return pairs.every(([id, bias]) => /^\d{1,10}$/.test(id) && fits(bias));
}

/** @type {Check} */
function areStops(value) {
  return Array.isArray(value) && value.length <= MAX_STOPS && value.every(text(LONGEST_STOP, 1));
}

/** The name of one of a server's models (docs/protocol.md, Several models). @type {Check} */
export function isModelName(value) {
  return typeof value === 'string' && /^[\w-][\w.-]{0,63}$/.test(value);
}

/** null: as the model's manifest says, else the sampler's default. @type {Record<string, Check>} */
export const SAMPLING = {
  temperature: orNull(real(0, 100)),
  top_k: orNull(whole(0, 2 ** 31 - 1)),
  top_p: orNull((value) => real(0, 1)(value) && value !== 0),
  min_p: orNull(real(0, 1)),
  repetition_penalty: orNull(real(0.01, 100)),
  presence_penalty: orNull(real(-2, 2)),
  frequency_penalty: orNull(real(-2, 2)),
  seed: orNull(isSeed),
  logit_bias: orNull(isBias),
};

/** @type {Record<keyof Settings, Check>} */
export const CHECKS = {
  .../** @type {any} */ (SAMPLING),
  model: orNull(isModelName),
  theme: oneOf('auto', 'light', 'dark'),
  max_tokens: whole(1, 2 ** 24),
  stop: areStops,
  system: text(LONGEST_SYSTEM),
  adapter: orNull(text(LONGEST_NAME, 1)),
  noise: orNull(isNoise),
  redaction: orNull(isRedaction),
  transport: oneOf('auto', 'websocket', 'http'),
  enter: oneOf('auto', 'sends', 'breaks'),
  server_cache: oneOf('exact', 'int8', 'off'),
  drafts: oneOf('auto', 'off'),
  draft_memory: oneOf('chat', 'server'),
  text_size: oneOf('small', 'normal', 'large', 'huge'),
  language: oneOf('auto', 'en', 'de'),
  notify: oneOf(true, false),
};

/** @type {Readonly<Settings>} */
export const DEFAULTS = Object.freeze({
  model: null,
  theme: 'auto',
  temperature: null,
  top_k: null,
  top_p: null,
  min_p: null,
  repetition_penalty: null,
  presence_penalty: null,
  frequency_penalty: null,
  seed: null,
  logit_bias: null,
  max_tokens: 1024,
  stop: [],
  system: '',
  adapter: null,
  noise: null,
  redaction: null,
  transport: 'auto',
  enter: 'auto',
  server_cache: 'exact',
  drafts: 'auto',
  draft_memory: 'chat',
  text_size: 'normal',
  language: 'auto',
  notify: false,
});
