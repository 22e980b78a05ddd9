/**
 * The end of a text that still grows. Marks that may become something with the next token are held
 * back, and emphasis or code that is open is shown as if it closed here, so that nothing flickers.
 */
import { masked, sourceOf } from './formulas/masked.js';
import { closers } from './open_marks.js';

/** @typedef {import('./types').Segment} Segment */

// What opens a block, once it is known what follows: items, rules, headings, quotes, fences, tasks.
const UNDECIDED_LINE = /(?:^|\n)[ \t]*(?:[-+*_=#>`~]+|\d{1,9}[.)]?|[-+*][ \t]+\[[ xX]?\]?)[ \t]*$/;
// A link, or the beginning of one; a longer text in brackets is shown as it is.
const OPEN_LINK = /!?\[[^[\]\n]{0,80}\]?$/;
const OPEN_TARGET = /!?\[([^[\]\n]*)\]\([^()\s]*$/;
const TABLE_LINE = /^ {0,3}\|/;
const LONGEST_TABLE_LINE = 300;
// Longer emphasis than that is more often none.
const FARTHEST = 500;

/**
 * What to show of the last segment; null: nothing yet.
 * @param {Segment} segment
 * @param {boolean} lineEnded whether the text ends with a line's end
 * @returns {Segment|null}
 */
export function settledTail(segment, lineEnded) {
  if (segment.kind === 'fence') return settledFence(segment, lineEnded);
  if (segment.kind === 'formula') return segment;
  if (mayBecomeTable(segment.text, lineEnded)) return null;
  const decided = lineEnded ? segment.text : segment.text.replace(UNDECIDED_LINE, '');
  const settled = closed(decided);
  return settled.text.trim() ? { ...segment, ...settled } : null;
}

/** Neither half a language nor half a closing fence. @param {Segment} segment @param {boolean} lineEnded */
function settledFence(segment, lineEnded) {
  if (!segment.open) return segment;
  const text = lineEnded ? segment.text : segment.text.replace(/(?:^|\n) {0,3}[`~]+$/, '');
  const lang = lineEnded || segment.text ? segment.lang : '';
  return { ...segment, lang, text: text.replace(/\n$/, '') };
}

/** A table is one from its second line on. @param {string} text @param {boolean} lineEnded */
function mayBecomeTable(text, lineEnded) {
  if (!TABLE_LINE.test(text) || text.length > LONGEST_TABLE_LINE) return false;
  const lines = text.split('\n').length;
  return lines === 1 || (lines === 2 && !lineEnded);
}

/** @param {string} text @returns {{text: string, open?: boolean}} open: it ends within a formula */
function closed(text) {
  const start = beginningOfLast(text);
  const { text: rest, held } = masked(text.slice(start).replace(/[*_~`\\]+$/, ''), { open: true });
  const open = rest.replace(OPEN_TARGET, '$1').replace(OPEN_LINK, '');
  const line = open.trimEnd();
  const whole = text.slice(0, start) + sourceOf(line, held) + closers(line);
  return held.some(({ formula }) => formula?.open) ? { text: whole, open: true } : { text: whole };
}

/** Where the paragraph, item or cell begins that the text ends in. @param {string} text */
function beginningOfLast(text) {
  const lastLine = text.lastIndexOf('\n') + 1;
  if (TABLE_LINE.test(text.slice(lastLine))) return text.lastIndexOf('|') + 1;
  const from = Math.max(0, text.length - FARTHEST);
  const before = text.slice(from);
  const item = [...before.matchAll(/(?:^|\n)[ \t>]*(?:[-+*]|\d{1,9}[.)])[ \t]|\n[ \t]*\n/g)].at(-1);
  return from + (item ? item.index + item[0].length : 0);
}
