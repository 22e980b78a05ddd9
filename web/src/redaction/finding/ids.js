// National ids, by the patterns and checks of rules.json.
import { holds } from '../checks.js';
import { RULES } from '../rules.js';
import { MOST_GAP } from '../squeezed.js';

/** @typedef {import('./looked.js').Looked} Looked */
/** @typedef {import('../kinds.js').Found} Found */
/** @typedef {import('../checks.js').Checked & {name: string, gaps: string, regions?: string[], reserved?: string}} Rule */

/** @type {readonly Rule[]} */
export const ID_RULES = RULES.ids;
/** @type {Record<string, string>} */
const CLASSES = { 9: '[0-9]', A: '[A-Za-z]', X: '[0-9A-Za-z]' };
const SEARCHES = ID_RULES.map(searched);
/** What letters and digits are where nothing stands between: quick to look for. */
const SOLID = ID_RULES.map(({ pattern }) => new RegExp(Array.from(pattern.replaceAll('-', ''), (each) => CLASSES[each] ?? each).join('')));
const FAR = 10;
const CODE = /\+[0-9 \-./()]{0,8}$/;

/** @param {Looked} looked @returns {Generator<Found>} */
export function* ids(looked) {
  /** @type {Found[]} */
  const taken = [];
  for (const [i, rule] of ID_RULES.entries()) {
    if (rule.regions && !rule.regions.some((each) => looked.regions.includes(each))) continue;
    if (!SOLID[i].test(looked.squeezed.characters)) continue;
    for (const found of idsOf(rule, SEARCHES[i], looked)) {
      if (taken.some(({ start, end }) => found.end > start && end > found.start)) continue;
      taken.push(found);
      yield found;
    }
  }
}

/** @param {Rule} rule @param {RegExp} search @param {Looked} looked @returns {Generator<Found>} */
function* idsOf(rule, search, looked) {
  search.lastIndex = 0;
  for (let match; (match = search.exec(looked.text)); ) {
    const [written] = match;
    const end = match.index + written.length;
    const key = written.replace(/[^0-9A-Za-z]/g, '').toUpperCase();
    // Words that happen to stand so are in small letters, or some of them are.
    const plain = written === written.toUpperCase() || written.length === key.length;
    const whole = standsAlone(looked.text, match.index, end);
    const next = plain && whole && holds(rule, key) ? end : match.index + 1;
    if (next === end) yield looked.found('id', key, match.index, end, rule.name);
    search.lastIndex = next;
  }
}

/** Whether it is no number of a phone behind its code, and no part of a number with spaces. @param {string} text @param {number} start @param {number} end */
function standsAlone(text, start, end) {
  const before = text.slice(Math.max(0, start - FAR), start);
  if (CODE.test(before)) return false;
  if (!/[ \n]/.test(text.slice(start, end))) return true;
  return !/[0-9] $/.test(before) && !/^ [0-9]/.test(text.slice(end, end + 2));
}

/** @param {Rule} rule */
function searched({ pattern, gaps }) {
  const solid = Array.from(pattern, (each) => CLASSES[each] ?? each);
  const any = `[${RULES.gap}]{0,${MOST_GAP}}`;
  const body = gaps === 'any' ? solid.join(any) : solid.map((each) => (each === '-' ? '[ \\n\\-./]' : each)).join('');
  // A part of another number, of a phone for example, is none.
  const begin = '(?<![0-9A-Za-z+])(?<![0-9][\\-./()])';
  return new RegExp(`${begin}${body}(?![0-9A-Za-z])(?![\\-./()][0-9])`, 'g');
}
