// Phone numbers: with a calling code anywhere, without one in the regions of the map.
import { CALLING, REGIONS } from '../phone_ranges.js';
import { sequences } from './sequences.js';

/** @typedef {import('./sequences.js').Group} Group */
/** @typedef {import('../phone_ranges.js').Region} Region */
/** Digits up to the end of a group, and the number of groups until there. @typedef {[digits: string, end: number]} Until */
/** `end`: number of groups. @typedef {{key: string, end: number}} Numbered */

// Amounts, dates, spans of years, IP addresses of private networks, decimals: what else has many digits.
const MONEY = '(?:€|\\$|£|EUR|USD|GBP|CHF)';
const OTHERS = new RegExp(
  `(?<![0-9+])(?!0[0-9])[0-9][0-9.,]{0,30}[ ]?(?:${MONEY}|%)` +
    `|${MONEY}[ ]?(?!0[0-9])[0-9][0-9.,]{0,30}` +
    '|(?<![0-9])(?<![0-9][./\\-])(?:' +
    '[0-9]{1,2}([./\\-])[0-9]{1,2}\\1[0-9]{4}' +
    '|[0-9]{4}([./\\-])[0-9]{1,2}\\2[0-9]{1,2}' +
    '|(?:19|20)[0-9]{2}-(?:19|20)[0-9]{2}' +
    '|(?<!\\+)(?:10|127|169\\.254|172\\.(?:1[6-9]|2[0-9]|3[01])|192\\.168)(?:\\.[0-9]{1,3}){2,3}' +
    '|(?<![A-Za-z+])(?:0|[1-9][0-9]?)\\.(?![0-9]{3,5}[ \\n][0-9]{2,}(?![0-9]|[.,][0-9]))[0-9]+' +
    ')(?![0-9])(?![./\\-][0-9])',
  'g',
);
// What an amount is the end of, if it is the end of a number.
const BEGUN = /(?:\+|(?<![0-9])0)[0-9 \n\-./_()]{1,24}$/;
const FAR = 26;
const NORTH_AMERICAN = /^[2-9][0-9]{2}[2-9][0-9]{6}$/;
const [LEAST, MOST, LEAST_NUMBER] = [7, 17, 6];

/** @param {import('./looked.js').Looked} looked @returns {Generator<import('../kinds.js').Found>} */
export function* phones(looked) {
  if (!/[0-9]{7}/.test(looked.squeezed.characters)) return;
  const text = looked.text.replace(OTHERS, (whole, _dot, _dash, at) => (isEnd(looked.text, whole, at) ? whole : '#'.repeat(whole.length)));
  for (const groups of sequences(text, 'phone_gap')) {
    for (let at = 0; at < groups.length; ) {
      const { start } = groups[at];
      const plus = plusBefore(text, start);
      const found = numberIn(groups.slice(at, at + MOST), plus !== null, looked.regions);
      const later = found === null || plus !== null ? null : laterIn(groups, at, found, looked.regions);
      if (found === null || later !== null) {
        at = later ?? at + 1;
        continue;
      }
      at += found.end;
      yield looked.found('phone', found.key, plus ?? start, groups[at - 1].end);
    }
  }
}

/** Whether an amount is the end of a number. @param {string} text @param {string} whole @param {number} at */
function isEnd(text, whole, at) {
  return /^[0-9]/.test(whole) && BEGUN.test(text.slice(Math.max(0, at - FAR), at));
}

/**
 * The group of a number with a trunk prefix that begins within the one at `at`, and goes on behind it: then digits before
 * that one made another of it.
 * @param {Group[]} groups @param {number} at @param {Numbered} found @param {readonly string[]} wanted @returns {number | null}
 */
function laterIn(groups, at, found, wanted) {
  if (groups[at].digits.startsWith('0')) return null;
  for (let later = at + 1; later < at + found.end; later++) {
    if (!groups[later].digits.startsWith('0')) continue;
    const other = numberIn(groups.slice(later, later + MOST), false, wanted);
    if (other && later + other.end > at + found.end) return later;
  }
  return null;
}

/** Where the + of a number is that begins at `start`. @param {string} text @param {number} start @returns {number | null} */
function plusBefore(text, start) {
  let before = start - 1;
  if (before > 0 && (text[before] === ' ' || text[before] === '(')) before -= 1;
  return before >= 0 && text[before] === '+' ? before : null;
}

/** @param {Group[]} groups @param {boolean} plus @param {readonly string[]} wanted @returns {Numbered | null} */
function numberIn(groups, plus, wanted) {
  const ends = endsOf(groups);
  if (!ends.length) return null;
  if (plus || groups[0].digits.startsWith('00')) {
    const found = international(ends, plus ? 0 : 2);
    // A + may be there for something else: no code begins with 0.
    if (found || !plus || !groups[0].digits.startsWith('0')) return found;
  }
  return national(ends, wanted) ?? northAmerican(groups) ?? unknown(ends, groups[0].digits);
}

/** The longest first. @param {Group[]} groups @returns {Until[]} */
function endsOf(groups) {
  /** @type {Until[]} */
  const found = [];
  let digits = '';
  for (const [index, group] of groups.entries()) {
    digits += group.digits;
    if (digits.length > MOST) break;
    if (digits.length >= LEAST) found.unshift([digits, index + 1]);
  }
  return found;
}

/** @param {Until[]} ends @param {number} skipped digits before the code @returns {Numbered | null} */
function international(ends, skipped) {
  const code = [1, 2, 3].map((n) => ends[0][0].slice(skipped, skipped + n)).find((each) => CALLING.has(each)) ?? '';
  if (!code) return null;
  const known = /** @type {Region[]} */ (CALLING.get(code));
  for (const [digits, end] of ends) {
    const rest = digits.slice(skipped + code.length);
    const number = withoutTrunk(rest, known[0]?.trunk ?? '').find((each) => known.some((region) => region.takes(each)));
    if (number !== undefined) return { key: `+${code} ${number}`, end };
  }
  const fits = ends.find(([digits]) => digits.length - skipped >= 8 && digits.length - skipped <= 15);
  return fits ? { key: `+${code} ${fits[0].slice(skipped + code.length)}`, end: fits[1] } : null;
}

/** @param {Until[]} ends @param {readonly string[]} wanted @returns {Numbered | null} */
function national(ends, wanted) {
  for (const name of wanted) {
    const region = REGIONS.get(name);
    if (!region) continue;
    for (const [digits, end] of ends) {
      const fits = (/** @type {string} */ number) => number.length >= LEAST_NUMBER && region.takes(number);
      const number = withoutTrunk(digits, region.trunk).find(fits);
      if (number !== undefined) return { key: `+${region.code} ${number}`, end };
    }
  }
  return null;
}

/** @param {Group[]} groups @returns {Numbered | null} */
function northAmerican(groups) {
  const skipped = groups[0].digits === '1' ? 1 : 0;
  const parts = groups.slice(skipped, skipped + 3).map(({ digits }) => digits);
  const whole = parts.join('');
  const fits = parts.map(({ length }) => length).join() === '3,3,4' && NORTH_AMERICAN.test(whole);
  return fits ? { key: `+1 ${whole}`, end: skipped + 3 } : null;
}

/** Of some country where numbers begin with a 0. @param {Until[]} ends @param {string} first @returns {Numbered | null} */
function unknown(ends, first) {
  if (!first.startsWith('0')) return null;
  const fits = ends.find(([digits]) => digits.length >= 9 && digits.length <= 13);
  return fits ? { key: `0 ${fits[0].slice(1)}`, end: fits[1] } : null;
}

/** @param {string} digits @param {string} trunk */
function withoutTrunk(digits, trunk) {
  return trunk && digits.startsWith(trunk) ? [digits.slice(trunk.length), digits] : [digits];
}
