/** Emphasis and code that a text leaves open (a part of CommonMark 0.31, section 6.2). */

const MARKS = /\\.|`+|\*{1,3}|_{1,3}|~~/gs;
const SPACE = /^(?:\s|$)/;
const PUNCTUATION = /^[\p{P}\p{S}]/u;
const WORD = /^[\p{L}\p{N}]/u;

/**
 * The marks that close what is open at the end of `text`, the innermost first.
 * @param {string} text of one paragraph
 */
export function closers(text) {
  /** @type {string[]} */
  const open = [];
  MARKS.lastIndex = 0;
  for (let found = MARKS.exec(text); found; found = MARKS.exec(text)) {
    const mark = found[0];
    if (mark[0] === '\\') continue;
    if (mark[0] === '`') {
      const end = endOfCode(text, mark, MARKS.lastIndex);
      if (end < 0) return [mark, ...open.reverse()].join('');
      MARKS.lastIndex = end;
    } else follow(open, mark, text[found.index - 1] ?? '', text[MARKS.lastIndex] ?? '');
  }
  return open.reverse().join('');
}

/** @param {string} text @param {string} mark @param {number} from */
function endOfCode(text, mark, from) {
  const runs = /`+/g;
  runs.lastIndex = from;
  for (let found = runs.exec(text); found; found = runs.exec(text)) {
    if (found[0].length === mark.length) return runs.lastIndex;
  }
  return -1;
}

/** @param {string[]} open @param {string} mark @param {string} before @param {string} after */
function follow(open, mark, before, after) {
  const closes = !SPACE.test(before) && !(mark[0] === '_' && WORD.test(after));
  const at = closes ? open.lastIndexOf(mark) : -1;
  if (at >= 0) open.length = at;
  else if (opens(mark, before, after)) open.push(mark);
}

/**
 * Within a word only '**' is taken for one.
 * @param {string} mark @param {string} before @param {string} after
 */
function opens(mark, before, after) {
  if (SPACE.test(after)) return false;
  if (mark.length === 1 || mark[0] === '_') return !WORD.test(before);
  return !PUNCTUATION.test(after) || SPACE.test(before) || PUNCTUATION.test(before);
}
