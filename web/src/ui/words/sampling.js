// The fields of the sampling settings: what each one means, and what may be typed into it.
import { t } from './languages/words.js';

const MAX_SEED = 2n ** 64n - 1n;
const MAX_STOPS = 16;
const MAX_BIASED = 1024;

/**
 * `slider`: the part of the range that a slider covers; `fallback`: where the model recommends nothing.
 * @typedef {{name: string, label: string, hint: string, whole: boolean, low: number, high: number,
 *   fallback: number, slider: {low: number, high: number, step: number} | null}} NumberField
 */

/** @type {readonly NumberField[]} */
export const NUMBER_FIELDS = [
  {
    name: 'temperature',
    get label() { return t('Temperature'); },
    get hint() { return t('Higher is more varied; 0 always takes the likeliest token.'); },
    whole: false, low: 0, high: 100, fallback: 0, slider: { low: 0, high: 2, step: 0.05 },
  },
  {
    name: 'top_k',
    get label() { return t('Top k'); },
    get hint() { return t('Only the k likeliest tokens; 0 is off.'); },
    whole: true, low: 0, high: 2 ** 31 - 1, fallback: 0, slider: null,
  },
  {
    name: 'top_p',
    get label() { return t('Top p'); },
    get hint() { return t('Only the likeliest tokens that add up to p; 1 is off.'); },
    whole: false, low: 0.001, high: 1, fallback: 1, slider: { low: 0.05, high: 1, step: 0.05 },
  },
  {
    name: 'min_p',
    get label() { return t('Min p'); },
    get hint() { return t('Only tokens at least this likely, relative to the likeliest; 0 is off.'); },
    whole: false, low: 0, high: 1, fallback: 0, slider: { low: 0, high: 1, step: 0.01 },
  },
  {
    name: 'repetition_penalty',
    get label() { return t('Repetition penalty'); },
    get hint() { return t('Above 1 makes tokens of prompt and reply rarer.'); },
    whole: false, low: 0.01, high: 100, fallback: 1, slider: { low: 0.8, high: 2, step: 0.05 },
  },
  {
    name: 'presence_penalty',
    get label() { return t('Presence penalty'); },
    get hint() { return t('Against tokens that the reply has already.'); },
    whole: false, low: -2, high: 2, fallback: 0, slider: { low: -2, high: 2, step: 0.1 },
  },
  {
    name: 'frequency_penalty',
    get label() { return t('Frequency penalty'); },
    get hint() { return t('The more, the more often the reply has them.'); },
    whole: false, low: -2, high: 2, fallback: 0, slider: { low: -2, high: 2, step: 0.1 },
  },
  {
    name: 'max_tokens',
    get label() { return t('Longest reply'); },
    get hint() { return t('In tokens.'); },
    whole: true, low: 1, high: 1_000_000, fallback: 1024, slider: null,
  },
];

/**
 * What was read, or why it cannot be.
 * @template T
 * @typedef {{value: T} | {problem: string}} Read
 */

/**
 * @param {NumberField} field
 * @param {string} text empty: the recommendation
 * @returns {Read<number | null>}
 */
export function readNumber(field, text) {
  const trimmed = text.trim().replace(',', '.');
  if (!trimmed) return { value: null };
  const value = Number(trimmed);
  const range = { low: field.low, high: field.high };
  const fits = Number.isFinite(value) && value >= field.low && value <= field.high;
  if (!fits || (field.whole && !Number.isInteger(value))) {
    return { problem: field.whole ? t('A whole number from {low} to {high}.', range) : t('A number from {low} to {high}.', range) };
  }
  return { value };
}

/** @param {string} text empty: a new one for each reply @returns {Read<string | null>} decimal */
export function readSeed(text) {
  const trimmed = text.trim();
  if (!trimmed) return { value: null };
  if (!/^\d{1,20}$/.test(trimmed) || BigInt(trimmed) > MAX_SEED) {
    return { problem: t('A whole number from 0 to 18446744073709551615, or nothing.') };
  }
  return { value: BigInt(trimmed).toString() };
}

/** @param {string} text one a line; \n and \t are a line break and a tab @returns {Read<string[]>} */
export function readStops(text) {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length > MAX_STOPS) return { problem: t('At most {n} texts.', { n: MAX_STOPS }) };
  const escapes = /** @type {Record<string, string>} */ ({ n: '\n', t: '\t', '\\': '\\' });
  return { value: lines.map((line) => line.replace(/\\([nt\\])/g, (_, letter) => escapes[letter])) };
}

/** @param {readonly string[]} stops @returns {string} what readStops reads */
export function writeStops(stops) {
  const escaped = (/** @type {string} */ stop) =>
    stop.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return stops.map(escaped).join('\n');
}

/**
 * @param {string} text TOKEN_ID=NUMBER, one a line or parted by spaces
 * @returns {Read<Record<string, number>>}
 */
export function readBias(text) {
  /** @type {Record<string, number>} */
  const bias = {};
  for (const entry of text.split(/\s+/).filter(Boolean)) {
    const match = /^(\d{1,10})=(-?\d{1,3}(?:[.,]\d{1,9})?)$/.exec(entry);
    const value = match ? Number(match[2].replace(',', '.')) : NaN;
    if (!match || !(Math.abs(value) <= 100)) {
      const what = { entry: entry.slice(0, 40) };
      return { problem: t('“{entry}” is not TOKEN_ID=NUMBER with a number from -100 to 100.', what) };
    }
    bias[Number(match[1])] = value;
  }
  if (Object.keys(bias).length > MAX_BIASED) return { problem: t('At most {n} tokens.', { n: MAX_BIASED }) };
  return { value: bias };
}

/** @param {Record<string, number>} bias @returns {string} what readBias reads */
export function writeBias(bias) {
  return Object.entries(bias).map(([token, value]) => `${token}=${value}`).join('\n');
}

/**
 * What the model recommends for a field.
 * @param {NumberField} field
 * @param {Record<string, number> | undefined} generation of the manifest
 */
export function recommended(field, generation) {
  return generation?.[field.name] ?? field.fallback;
}
