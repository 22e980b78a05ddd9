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
 * For finding without regard to case, in any script. A search folds megabytes, so it is the browser's
 * own mapping of whole texts, not full case folding letter by letter.
 * @param {string} text
 */
export function folded(text) {
  // Upper case first: 'ß' and 'SS' are the same, and so are both forms of a small sigma.
  return text.normalize('NFC').toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
