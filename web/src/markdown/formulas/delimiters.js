/**
 * Delimiters of formulas (TeX) in text: `\(…\)` and `$…$` within a line, `\[…\]`, `$$…$$` and the
 * environments of amsmath on lines of their own. A dollar sign is one as pandoc's
 * tex_math_dollars has it, and not where an amount of money is the likelier reading.
 */

// A longer one is shown as it was written.
export const LONGEST_FORMULA = 4000;
const LONGEST_INLINE = 1000;

/** Of a formula that begins on a line of its own and need not end there. */
const OPENING = /^ {0,3}(\\\[|\$\$|\\begin\{((?:equation|align|alignat|gather|multline|eqnarray)\*?)\})/;
const NUMBER_AND_WORD = /^\d[\d.,]*(?:[kKmMbB]\b|\s*[/–-]?\s*[A-Za-z]{2,})/;
const SURELY_TEX = /[\\^_={}]/;

/** @typedef {{open: string, close: string, display: boolean, keeps: boolean}} Delimiters `keeps`: they are TeX too */

const ROUND = { open: '\\(', close: '\\)', display: false, keeps: false };
const SQUARE = { open: '\\[', close: '\\]', display: true, keeps: false };
const DOLLARS = { open: '$$', close: '$$', display: true, keeps: false };
export const DOLLAR = { open: '$', close: '$', display: false, keeps: false };

/**
 * The delimiters of a display that begins with this line.
 * @param {string} line @returns {Delimiters | null}
 */
export function opened(line) {
  const found = OPENING.exec(line);
  if (!found) return null;
  if (found[1] === '$$') return DOLLARS;
  return found[2] ? { open: found[1], close: `\\end{${found[2]}}`, display: true, keeps: true } : SQUARE;
}

/**
 * The delimiters of what begins at `at`, by its characters alone.
 * @param {string} text @param {number} at @returns {Delimiters | null}
 */
export function openedAt(text, at) {
  if (text[at] === '\\') return text[at + 1] === '(' ? ROUND : text[at + 1] === '[' ? SQUARE : null;
  if (text[at + 1] === '$') return DOLLARS;
  const alone = !/[\p{L}\p{N}$]/u.test(text[at - 1] ?? ' ') && /\S/.test(text[at + 1] ?? ' ');
  return alone ? DOLLAR : null;
}

/** Whether the dollar sign at `at` can end a formula. @param {string} text @param {number} at */
export function dollarCloses(text, at) {
  return /[^\s\\$]/.test(text[at - 1] ?? ' ') && !/[\p{L}\p{N}$]/u.test(text[at + 1] ?? ' ');
}

/** Whether `inner` is a formula between these. @param {Delimiters} delimiters @param {string} inner */
export function isFormula(delimiters, inner) {
  if (!inner.trim() || inner.length > (delimiters.display ? LONGEST_FORMULA : LONGEST_INLINE)) return false;
  if (delimiters.close === '\\]' || delimiters.keeps) return true;
  if (/\n[ \t]*\n/.test(inner)) return false;
  return delimiters !== DOLLAR || !NUMBER_AND_WORD.test(inner) || SURELY_TEX.test(inner);
}

/** Where `mark` closes a formula in `text`, from `at` on; -1: nowhere. @param {string} text @param {string} mark @param {number} at */
export function closingAt(text, mark, at) {
  let end = text.indexOf(mark, at);
  // '\\\\]' ends a line of TeX, and a bracket stands behind it.
  while (end > 0 && mark[0] === '\\' && isEscaped(text, end)) end = text.indexOf(mark, end + 1);
  return end;
}

/** Whether an odd number of backslashes stands before. @param {string} text @param {number} at */
function isEscaped(text, at) {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
