// Dates in figures and in words, which are dates of birth where somebody has asked for those.
import { RULES } from '../rules.js';

/** @typedef {import('../kinds.js').Span} Span */
/** @typedef {import('../kinds.js').DateParts} DateParts */
/** @typedef {{key: string, start: number, end: number, parts: DateParts}} FoundDate */

const [FIRST_YEAR, LAST_YEAR] = [1900, 2029];
const FORMS = ['figures', 'iso', 'words', 'turned'];
const DATES = search();

/** @param {import('./looked.js').Looked} looked @returns {Generator<import('../kinds.js').Found>} */
export function* dates(looked) {
  let behind = 0;
  for (const { key, start, end, parts } of datesIn(looked.text, looked.lower, looked.monthsFirst)) {
    if (start < behind) continue;
    yield looked.found('date', key, start, end, '', parts);
    behind = end;
  }
}

/**
 * What may be read as a date from each place on.
 * @param {string} text @param {string} lower it in small letters @param {boolean} monthsFirst @returns {Generator<FoundDate>}
 */
export function* datesIn(text, lower, monthsFirst) {
  if (!/[0-9]/.test(text)) return;
  for (let match, at = 0; (match = matchFrom(lower, at)); at = match.index + 1) {
    const found = read(match, monthsFirst);
    if (found) yield found;
  }
}

/** @param {string} lower @param {number} at */
function matchFrom(lower, at) {
  DATES.lastIndex = at;
  return DATES.exec(lower);
}

/** @param {RegExpExecArray} match @param {boolean} monthsFirst @returns {FoundDate | null} */
function read(match, monthsFirst) {
  const groups = /** @type {Record<string, string>} */ (match.groups);
  const form = /** @type {string} */ (FORMS.find((each) => groups[each]));
  const names = ['day', 'month', 'year'].map((part) => `${form}_${part}`);
  if (form === 'figures' && monthsFirst && groups.between === '/') [names[0], names[1]] = [names[1], names[0]];
  const [day, month, year] = names.map((name) => groups[name]);
  const words = /^[0-9]/.test(month) ? null : RULES.months.findIndex((listed) => listed.includes(month));
  const number = words === null ? Number(month) : RULES.months[words].indexOf(month) + 1;
  const real = Number(day) >= 1 && Number(day) <= 31 && number >= 1 && number <= 12;
  if (!real || Number(year) < FIRST_YEAR || Number(year) > LAST_YEAR) return null;
  const spans = /** @type {Record<string, Span>} */ (/** @type {any} */ (match).indices.groups);
  const [d, m, y] = names.map((name) => spans[name]);
  const key = `${year.padStart(4, '0')}-${two(number)}-${two(Number(day))}`;
  return { key, start: match.index, end: match.index + match[0].length, parts: { day: d, month: m, year: y, words } };
}

/** @param {number} value */
function two(value) {
  return String(value).padStart(2, '0');
}

function search() {
  const months = [...new Set(RULES.months.flat())].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  const [month, gap, suffix] = [months.join('|'), '[ \\n]{1,3}', '(?:\\.|st|nd|rd|th)?'];
  return new RegExp(
    '(?<![0-9a-z])(?<![0-9][./\\-])(?:' +
      '(?<figures>(?<figures_day>[0-9]{1,2})(?<between>[./\\-])' +
      '(?<figures_month>[0-9]{1,2})\\k<between>(?<figures_year>[0-9]{4}))' +
      '|(?<iso>(?<iso_year>[0-9]{4})(?<dash>[./\\-])(?<iso_month>[0-9]{1,2})\\k<dash>(?<iso_day>[0-9]{1,2}))' +
      `|(?<words>(?<words_day>[0-9]{1,2})${suffix}${gap}(?:of${gap})?` +
      `(?<words_month>${month})[.,]?${gap}(?<words_year>[0-9]{4}))` +
      `|(?<turned>(?<turned_month>${month})\\.?${gap}(?<turned_day>[0-9]{1,2})${suffix},?${gap}` +
      '(?<turned_year>[0-9]{4}))' +
      ')(?![0-9a-z])',
    'dg',
  );
}
