// Words of noised mode about itself: every epsilon with its unit and delta (docs/privacy.md).
import { AUTO, placeOf } from '../../adapters/place.js';
import { decimal, number } from './format.js';
import { language, t } from './languages/words.js';

/** @typedef {import('../../noise/mode.js').NoiseStatus} NoiseStatus */
/** @typedef {import('../../noise/mode.js').Loss} Loss */
/**
 * @template T
 * @typedef {import('./sampling.js').Read<T>} Read
 */

const MOST_ROOM = 1_000_000;
// A comma that parts the fraction in one country parts thousands in another.
const UNCLEAR = /^[1-9]\d{0,2},\d{3}$/;
const DECIMAL = /^(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/**
 * @param {string} text
 * @param {{below?: number, empty?: boolean}} [allowed] empty: nothing may stand there
 * @returns {Read<number | null>}
 */
export function readPositive(text, { below = Infinity, empty = false } = {}) {
  const trimmed = text.trim();
  if (!trimmed && empty) return { value: null };
  if (UNCLEAR.test(trimmed)) return { problem: t('Write it without a comma: it may part thousands or a fraction.') };
  const decimal = trimmed.replace(',', '.');
  const value = Number(decimal);
  if (DECIMAL.test(decimal) && value > 0 && value < below) return { value };
  return { problem: below < Infinity ? t('A number above 0 and below {below}.', { below }) : t('A number above 0.') };
}

/** Two decimals, rounded up; in words where nothing is proven. @param {number} epsilon */
export function epsilonWords(epsilon) {
  if (!Number.isFinite(epsilon)) return t('without bound (too little noise)');
  return decimal(Math.max(0, Math.ceil(epsilon * 100 - 1e-6)) / 100, 2);
}

/** Both units. @param {Loss} loss @returns {[string, string][]} what is replaced, and its epsilon */
export function lossRows({ rows, sendings, token, whole }) {
  const one = sendings === 1
    ? t('One token replaced, sent once')
    : t('One token replaced, sent up to {n} times', { n: number(sendings) });
  const all = rows === 1 ? t('The one row replaced') : t('All {n} rows replaced', { n: number(rows) });
  return [
    [one, epsilonWords(token)],
    [all, epsilonWords(whole)],
  ];
}

/** The noise itself. @param {NoiseStatus} status @returns {string} */
export function mechanismWords({ clip, sigma, width, sensitivity, exact }) {
  const values = {
    clip: short(clip), sigma: short(sigma), width, ratio: short(sigma / clip), sensitivity: short(sensitivity),
    found: exact
      ? t('the largest distance between two clipped rows of the table')
      : t('no two clipped rows are farther apart'),
  };
  return t(
    'Rows clipped to norm C {clip}, Gaussian noise of sigma {sigma} in each of {width} values (sigma/C {ratio}); sensitivity {sensitivity}: {found}.',
    values,
  );
}

/** @param {NonNullable<NoiseStatus['budget']>} budget @returns {string} */
export function budgetWords({ epsilon, spent, room }) {
  const rows = room === MOST_ROOM ? t('over {n}', { n: number(room) }) : number(room);
  return t('{spent} of {all} spent, room for {rows} more rows', {
    spent: epsilonWords(spent), all: epsilonWords(epsilon), rows,
  });
}

/** Why a setting stands against noise. @param {{repetition_penalty: number | null}} settings
 * @param {string | null} adapter @returns {string[]} */
export function inTheWay({ repetition_penalty: penalty }, adapter) {
  return [
    ...(penalty !== null && penalty !== 1
      ? [t('Set the repetition penalty to 1 first: it looks at the clean prompt, and the reply would tell of it.')]
      : []),
    ...(placeOf(adapter).name === AUTO
      ? [t('Choose an adapter by its name, or none: “Auto” looks at the clean message, and its choice is sent.')]
      : []),
  ];
}

/** @param {number} value */
function short(value) {
  return Number(value.toPrecision(4)).toLocaleString(language(), { maximumSignificantDigits: 4, useGrouping: false });
}
