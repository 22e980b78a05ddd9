// The sentences of a message: each ends with a mark that ends one, or with its line.
const END = /[.!?…。！？]+["”’)\]]*(?=\s)|[。！？]|\n/g;

/** @typedef {{from: number, to: number}} Sentence `to` exclusive, white space around it left out */

/** @param {string} text @returns {Sentence[]} in order; none where there is nothing but white space */
export function sentencesOf(text) {
  const ends = [...text.matchAll(END)].map(({ index, 0: mark }) => index + mark.length);
  /** @type {Sentence[]} */
  const sentences = [];
  let start = 0;
  for (const end of [...ends, text.length]) {
    const own = text.slice(start, end);
    const from = start + own.length - own.trimStart().length;
    const to = start + own.trimEnd().length;
    if (to > from) sentences.push({ from, to });
    start = end;
  }
  return sentences;
}

/**
 * The sentence around a place, or else the next one.
 * @param {Sentence[]} sentences @param {number} at @returns {Sentence | undefined}
 */
export function sentenceAt(sentences, at) {
  let [low, high] = [0, sentences.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sentences[middle].to <= at) low = middle + 1;
    else high = middle;
  }
  return sentences[low] ?? sentences.at(-1);
}
