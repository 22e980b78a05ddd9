// A browser that finds out the direction of every paragraph by itself reads all of a text for every key.
const LONGEST_BY_ITSELF = 4000;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u{fb1d}-\u{fdff}\u{fe70}-\u{fefc}\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * The direction of a field with this text: each paragraph's own, or of a long text that of its first letter.
 * @param {string} text
 * @returns {'auto' | 'ltr' | 'rtl'}
 */
export function directionOf(text) {
  if (text.length <= LONGEST_BY_ITSELF) return 'auto';
  const letter = /\p{L}/u.exec(text)?.[0];
  return letter && RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}
