// Characters whose full folding (Unicode CaseFolding.txt, C and F) is not lower(upper(lower(character))).
const DOTLESS_I = 0x131;
const CHEROKEE = { first: 0x13a0, last: 0x13f5 };
const CHEROKEE_SMALL = { first: 0x13f8, last: 0x13fd, toCapital: -8 };
const CHEROKEE_SUPPLEMENT = { first: 0xab70, last: 0xabbf, toCapital: 0x13a0 - 0xab70 };

/**
 * `text` without distinctions of case: full case folding, as Python's str.casefold, code point by code point.
 * Letters younger than Unicode 14 fold as the browser's own Unicode says.
 * @param {string} text
 */
export function casefold(text) {
  // Most messages are ASCII, where lower case is all of it.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += foldedCharacter(character);
  return folded;
}

/** @param {string} character */
function foldedCharacter(character) {
  const point = /** @type {number} */ (character.codePointAt(0));
  // Cherokee folds to its capitals, which are older than its small letters.
  if (point === DOTLESS_I || within(point, CHEROKEE)) return character;
  for (const small of [CHEROKEE_SMALL, CHEROKEE_SUPPLEMENT]) {
    if (within(point, small)) return String.fromCodePoint(point + small.toCapital);
  }
  return character.toLowerCase().toUpperCase().toLowerCase();
}

/** @param {number} point @param {{first: number, last: number}} range */
function within(point, { first, last }) {
  return point >= first && point <= last;
}
