/** Text of people and models, as it may be stored and written to files. */

const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Half a character cannot be written as UTF-8. @param {string} text */
export function isWellFormed(text) {
  return text.search(LONE_SURROGATES) < 0;
}

/** Half characters become U+FFFD. @param {string} text */
export function wellFormed(text) {
  return text.replace(LONE_SURROGATES, '\ufffd');
}

/**
 * For comparing without regard to case, in any script.
 * @param {string} text
 */
export function folded(text) {
  // Upper case first: 'ß' and 'SS' are the same word, as Python's casefold has it.
  return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
