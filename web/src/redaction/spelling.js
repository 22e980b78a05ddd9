// A text with values or surrogates put in place of what stands there, in the same spelling.
import { NAMES, NUMBERS, numberOf } from './kinds.js';
import { RULES } from './rules.js';
import { isSolid } from './squeezed.js';

/** @typedef {import('./finding/looked.js').Looked} Looked */
/** @typedef {import('./kinds.js').DateParts} DateParts */
/** @typedef {import('./kinds.js').Span} Span */

/**
 * `made`, a key of `kind` where that is a number or a date, as the folded characters from `start` to `end` are written.
 * @param {string} kind @param {string} made @param {Looked} looked @param {number} start @param {number} end
 * @param {DateParts | null} [parts]
 */
export function respelled(kind, made, looked, start, end, parts = null) {
  if (NUMBERS.has(kind)) return numbered(looked, start, end, numberOf(kind, made));
  if (kind === 'date' && parts) return dated(looked.text, [start, end], parts, made);
  return NAMES.has(kind) ? named(looked.text.slice(start, end), made) : made;
}

/** The last characters are those of `number`; what stands in gaps stays. @param {Looked} looked @param {number} start @param {number} end @param {string} number */
function numbered({ text, folded, source }, start, end, number) {
  let solid = 0;
  for (let at = start; at < end; at++) solid += Number(isSolid(text, at));
  let [made, kept, next, last] = ['', solid - number.length, 0, -1];
  for (let at = start; at < end; at++) {
    const { from, to } = folded.range(at, at + 1);
    const first = from !== last;
    last = from;
    if (!isSolid(text, at)) made += first ? source.slice(from, to) : '';
    else if (kept-- > 0) made += text[at];
    else made += /[a-z]/.test(text[at]) ? number[next++].toLowerCase() : number[next++];
  }
  return made;
}

/** @param {string} text @param {Span} span @param {DateParts} parts @param {string} key */
function dated(text, [start, end], { day, month, year, words }, key) {
  const [y, m, d] = key.split('-');
  const written = words === null ? figures(m, month) : named(text.slice(...month), RULES.months[words][Number(m) - 1]);
  /** @type {[Span, string][]} */
  const parts = [[day, figures(d, day)], [month, written], [year, y]];
  parts.sort(([a], [b]) => a[0] - b[0]);
  let [made, at] = ['', start];
  for (const [[from, to], own] of parts) {
    made += text.slice(at, from) + own;
    at = to;
  }
  return made + text.slice(at, end);
}

/** @param {string} number @param {Span} where */
function figures(number, [start, end]) {
  return String(Number(number)).padStart(end - start, '0');
}

/** In capitals or small letters where it is written so. @param {string} written @param {string} made */
export function named(written, made) {
  if (written.length > 1 && written === written.toUpperCase() && written !== written.toLowerCase()) return made.toUpperCase();
  const first = written.slice(0, 1);
  if (first !== first.toUpperCase()) return made.toLowerCase();
  return made.slice(0, 1).toUpperCase() + made.slice(1);
}
