// Which part of a reply's source each shown text is. What markdown leaves out (marks, addresses of links, formulas that
// are drawn) has no place among the texts; what cannot be found in the source for certain is in no run.

/** `length` of the source from `at` on stand in text number `text` from `offset` on. @typedef {{at: number, length: number, text: number, offset: number}} Run */

// A text may stand behind marks; a long one also behind an address or a formula.
const NEAR = 80;
const FAR = 4400;
const LONG = 8;
const ADDRESS = /\]\([^()\s]*\)/y;

/**
 * @param {string} source @param {readonly string[]} texts as they are shown, in order
 * @returns {Run[]} in order of both
 */
export function aligned(source, texts) {
  /** @type {Run[]} */
  const runs = [];
  let at = 0;
  texts.forEach((shown, text) => {
    at = afterAddress(source, at);
    const found = placeOf(source, shown, at);
    if (found >= 0) {
      runs.push({ at: found, length: shown.length, text, offset: 0 });
      at = found + shown.length;
      return;
    }
    for (const { 0: word, index } of shown.matchAll(/\S+/g)) {
      const place = placeOf(source, word, at);
      if (place < 0) continue;
      runs.push({ at: place, length: word.length, text, offset: index });
      at = place + word.length;
    }
  });
  return runs;
}

/** @param {string} source @param {string} text @param {number} from @returns {number} -1: not near enough to be it */
function placeOf(source, text, from) {
  if (!text.trim()) return source.startsWith(text, from) && text ? from : -1;
  const place = source.indexOf(text, from);
  return place >= 0 && place - from <= (text.length >= LONG ? FAR : NEAR) ? place : -1;
}

/** @param {string} source @param {number} at @returns {number} behind the address of a link that has just ended */
function afterAddress(source, at) {
  ADDRESS.lastIndex = at;
  return ADDRESS.test(source) ? ADDRESS.lastIndex : at;
}

/**
 * The shown parts of a piece of the source.
 * @param {readonly Run[]} runs @param {number} from @param {number} to exclusive
 * @returns {{text: number, from: number, to: number}[]}
 */
export function shownParts(runs, from, to) {
  const parts = [];
  for (let i = firstEndingBehind(runs, from); i < runs.length && runs[i].at < to; i++) {
    const { at, length, text, offset } = runs[i];
    const [start, end] = [Math.max(from, at), Math.min(to, at + length)];
    if (end > start) parts.push({ text, from: offset + start - at, to: offset + end - at });
  }
  return parts;
}

/**
 * Where in the source a place in a shown text is; -1: nowhere.
 * @param {readonly Run[]} runs @param {number} text @param {number} offset
 */
export function sourcePlace(runs, text, offset) {
  const run = runs.find((each) => each.text === text && each.offset <= offset && offset < each.offset + each.length);
  return run ? run.at + offset - run.offset : -1;
}

/** @param {readonly Run[]} runs @param {number} at */
function firstEndingBehind(runs, at) {
  let [low, high] = [0, runs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle].at + runs[middle].length <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
