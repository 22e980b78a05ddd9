// One of many given texts, with what they begin alike written once.

/** @typedef {import('./expressions.js').Expression} Expression */

/**
 * @param {import('./expressions.js').Expressions} expressions @param {string[]} texts bytes, one UTF-16 unit each
 * @returns {Expression}
 */
export function oneOfTexts(expressions, texts) {
  return branch(expressions, [...new Set(texts)].sort(), 0);
}

/**
 * @param {import('./expressions.js').Expressions} x @param {string[]} texts sorted, alike up to `from`
 * @param {number} from
 * @returns {Expression}
 */
function branch(x, texts, from) {
  if (!texts.length) return x.never;
  const to = alikeUpTo(texts[0], texts[texts.length - 1], from);
  const begins = x.text(texts[0].slice(from, to));
  const longer = texts.filter((text) => text.length > to);
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const text of longer) {
    const group = groups.get(text[to]);
    if (group) group.push(text);
    else groups.set(text[to], [text]);
  }
  const rests = [...groups.values()].map((group) => branch(x, group, to));
  return x.cat(begins, x.alt(longer.length < texts.length ? [x.empty, ...rests] : rests));
}

/**
 * Of sorted texts, what the first and the last have alike all have.
 * @param {string} first @param {string} last @param {number} at
 */
function alikeUpTo(first, last, at) {
  while (at < first.length && first[at] === last[at]) at++;
  return at;
}
