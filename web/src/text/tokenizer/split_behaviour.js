// The behaviours of a split: what becomes of the matches of a pattern when a text is cut at them.

export const BEHAVIOURS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'];

/** @typedef {{start: number, end: number, match: boolean}} Part */

/**
 * @param {string} text
 * @param {RegExp} pattern global; never matches the empty text
 * @param {string} behaviour one of BEHAVIOURS
 * @param {boolean} invert what lies between the matches counts as the match
 * @returns {string[]} never empty ones
 */
export function splitBy(text, pattern, behaviour, invert) {
  const parts = partsOf(text, pattern, invert);
  const kept = behaviour === 'Removed' ? parts.filter((part) => !part.match) : merged(parts, behaviour);
  return kept.map(({ start, end }) => text.slice(start, end));
}

/** @param {string} text @param {RegExp} pattern @param {boolean} invert */
function partsOf(text, pattern, invert) {
  /** @type {Part[]} */
  const parts = [];
  let done = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    if (found.index > done) parts.push({ start: done, end: found.index, match: invert });
    done = found.index + found[0].length;
    parts.push({ start: found.index, end: done, match: !invert });
  }
  if (done < text.length) parts.push({ start: done, end: text.length, match: invert });
  return parts;
}

/** @param {Part[]} parts @param {string} behaviour */
function merged(parts, behaviour) {
  if (behaviour === 'Isolated') return parts;
  if (behaviour === 'MergedWithNext') return mergedWithNext(parts);
  /** @type {Part[]} */
  const kept = [];
  let previous = false;
  parts.forEach((part, index) => {
    const joins = behaviour === 'Contiguous' ? part.match === previous : part.match && !previous;
    const last = kept.at(-1);
    if (joins && last && index > 0) last.end = part.end;
    else kept.push({ ...part });
    previous = part.match;
  });
  return kept;
}

/** @param {Part[]} parts */
function mergedWithNext(parts) {
  /** @type {Part[]} */
  const kept = [];
  let following = false;
  for (const part of [...parts].reverse()) {
    const last = kept.at(-1);
    if (part.match && !following && last) last.start = part.start;
    else kept.push({ ...part });
    following = part.match;
  }
  return kept.reverse();
}
