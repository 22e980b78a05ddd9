// Where a text stops being JSON: browsers tell it in words of their own, or not at all.

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const NAME = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"[ \t\n\r]*:/y;
/** @type {Record<string, string>} */
const CLOSING = { '{': '}', '[': ']' };

/**
 * @param {string} text that is no JSON
 * @returns {{line: number, column: number}} both from 1, in UTF-16 units
 */
export function brokenAt(text) {
  const before = text.slice(0, brokenPlace(text)).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}

/** @param {string} text @returns {number} */
function brokenPlace(text) {
  /** @type {string[]} */
  const open = [];
  let at = 0;
  /** Takes what `pattern` matches here, and white space around it. @param {RegExp} pattern */
  const take = (pattern) => {
    const from = after(SPACE, text, at) ?? at;
    const to = after(pattern, text, from);
    at = after(SPACE, text, to ?? from) ?? from;
    return to !== null;
  };
  for (;;) {
    if (open.at(-1) === '}' && !take(NAME)) return at;
    take(SPACE);
    const closing = CLOSING[text[at]];
    if (closing) {
      at += 1;
      take(SPACE);
      if (text[at] !== closing) {
        open.push(closing);
        continue;
      }
      at += 1;
    } else if (!take(SCALAR)) return at;
    take(SPACE);
    while (open.length && text[at] === open.at(-1)) {
      open.pop();
      at += 1;
      take(SPACE);
    }
    if (!open.length || text[at] !== ',') return at;
    at += 1;
  }
}

/** @param {RegExp} pattern sticky @param {string} text @param {number} at @returns {number | null} behind its match */
function after(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}
