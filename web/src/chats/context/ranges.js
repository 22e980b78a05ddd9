/** Ranges of a message's text that do not travel: in code points, in order and apart. */
import { CodePoints } from './code_points.js';

/** @typedef {import('../types').Range} Range */
/** @typedef {import('../types').Kept} Kept */

const MAX_RANGES = 10_000;

/** What of a text is left without `dropped`. @param {Kept} message @returns {string} */
export function leftOf({ content, dropped = [] }) {
  if (!dropped.length) return content;
  return segments(content, dropped).reduce((left, { text, range }) => (range ? left : left + text), '');
}

/**
 * A text in the parts that are there and those that are dropped, in order; `range` null: it is there.
 * @param {string} content @param {readonly Range[]} dropped
 * @returns {{text: string, range: Range | null}[]}
 */
export function segments(content, dropped) {
  const points = new CodePoints(content);
  const parts = [];
  let at = 0;
  for (const range of dropped) {
    parts.push({ text: points.slice(at, range[0]), range: null }, { text: points.slice(...range), range });
    at = range[1];
  }
  parts.push({ text: points.slice(at, points.length), range: null });
  return parts.filter(({ text }) => text);
}

/** The same places, in order and apart. @param {readonly Range[]} ranges @returns {Range[]} */
export function joined(ranges) {
  /** @type {Range[]} */
  const made = [];
  for (const [start, stop] of [...ranges].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = made[made.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(stop, last[1]);
    else made.push([start, stop]);
  }
  return made;
}

/** `ranges` without what lies within one of them. @param {readonly Range[]} ranges @param {Range} without @returns {Range[]} */
export function withoutRange(ranges, [from, to]) {
  return ranges.flatMap(([start, stop]) => {
    /** @type {Range[]} */
    const parts = [[start, Math.min(stop, from)], [Math.max(start, to), stop]];
    return parts.filter(([begin, end]) => begin < end);
  });
}

/**
 * Of a text that said `before` and says `after`: those that lie whole in the beginning that both have.
 * @param {readonly Range[]} dropped @param {string} before @param {string} after @returns {Range[]}
 */
export function stillDropped(dropped, before, after) {
  const [said, says] = [[...before], [...after]];
  const differs = said.findIndex((point, at) => point !== says[at]);
  const same = differs < 0 ? said.length : differs;
  return dropped.filter(([, stop]) => stop <= same);
}

/**
 * A stranger's ranges, copied.
 * @param {unknown} given @param {string} content of whose text they are
 * @returns {Range[] | null} null: they are none
 */
export function rangesIn(given, content) {
  if (given === undefined || given === null) return [];
  return rangesBelow(given, new CodePoints(content).length);
}

/**
 * The same of a text of so many code points.
 * @param {unknown} given @param {number} length @returns {Range[] | null}
 */
export function rangesBelow(given, length) {
  if (!Array.isArray(given) || given.length > MAX_RANGES) return null;
  /** @type {Range[]} */
  const found = [];
  let before = -1;
  for (const each of given) {
    if (!Array.isArray(each) || each.length !== 2 || !each.every(Number.isSafeInteger)) return null;
    const [start, stop] = each;
    if (!(before < start && start < stop && stop <= length)) return null;
    found.push([start, stop]);
    before = stop;
  }
  return found;
}
