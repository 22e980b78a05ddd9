// Words of noised mode about itself: every epsilon with its unit and delta (docs/privacy.md).

/** @typedef {import('../../noise/mode.js').NoiseStatus} NoiseStatus */
/** @typedef {import('../../noise/mode.js').Loss} Loss */
/**
 * @template T
 * @typedef {import('./sampling.js').Read<T>} Read
 */

const MOST_ROOM = 1_000_000;
const NO_PENALTY =
  'Set the repetition penalty to 1 first: it looks at the clean prompt, and the reply would tell of it.';
const NO_AUTO =
  'Choose an adapter by its name, or none: “Auto” looks at the clean message, and its choice is sent.';

// A comma that parts the fraction in one country parts thousands in another.
const UNCLEAR_COMMA = 'Write it without a comma: it may part thousands or a fraction.';
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
  if (UNCLEAR.test(trimmed)) return { problem: UNCLEAR_COMMA };
  const decimal = trimmed.replace(',', '.');
  const value = Number(decimal);
  if (DECIMAL.test(decimal) && value > 0 && value < below) return { value };
  return { problem: below < Infinity ? `A number above 0 and below ${below}.` : 'A number above 0.' };
}

/** Two decimals, rounded up; in words where nothing is proven. @param {number} epsilon */
export function epsilonWords(epsilon) {
  if (!Number.isFinite(epsilon)) return 'without bound (too little noise)';
  return (Math.ceil(epsilon * 100 - 1e-6) / 100).toFixed(2);
}

/** Both units. @param {Loss} loss @returns {[string, string][]} what is replaced, and its epsilon */
export function lossRows({ rows, sendings, token, whole }) {
  const times = sendings === 1 ? 'once' : `up to ${sendings.toLocaleString('en')} times`;
  const all = rows === 1 ? 'The one row replaced' : `All ${rows.toLocaleString('en')} rows replaced`;
  return [
    [`One token replaced, sent ${times}`, epsilonWords(token)],
    [all, epsilonWords(whole)],
  ];
}

/** The noise itself. @param {NoiseStatus} status @returns {string} */
export function mechanismWords({ clip, sigma, width, sensitivity, exact }) {
  const found = exact ? 'the largest distance between two clipped rows of the table'
    : 'no two clipped rows are farther apart';
  return `Rows clipped to norm C ${short(clip)}, Gaussian noise of sigma ${short(sigma)} in each of ` +
    `${width} values (sigma/C ${short(sigma / clip)}); sensitivity ${short(sensitivity)}: ${found}.`;
}

/** @param {NonNullable<NoiseStatus['budget']>} budget @returns {string} */
export function budgetWords({ epsilon, spent, room }) {
  const more = room === MOST_ROOM ? `over ${MOST_ROOM.toLocaleString('en')}` : room.toLocaleString('en');
  return `${epsilonWords(spent)} of ${epsilonWords(epsilon)} spent, room for ${more} more rows`;
}

/** Why a setting stands against noise. @param {{repetition_penalty: number | null}} settings
 * @param {string | null} adapter @returns {string[]} */
export function inTheWay({ repetition_penalty: penalty }, adapter) {
  return [
    ...(penalty !== null && penalty !== 1
      ? [NO_PENALTY] : []),
    ...(adapter === 'auto'
      ? [NO_AUTO] : []),
  ];
}

/** @param {number} value */
function short(value) {
  return String(Number(value.toPrecision(4)));
}
