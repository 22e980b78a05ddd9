// Where in a chat a row of attention lies: by piece, by sentence, and what of it no message shows.

/** @typedef {import('./tinted_chat.js').TintedChat} TintedChat */
/**
 * Shares of one row, which together are 1: `pieces` by number, `first` of the first position, which takes what no token
 * needs, and `template` of what stands between the messages.
 * @typedef {{pieces: Float64Array, strongest: number, first: number, template: number}} Shares
 */
/**
 * A sentence that was looked at, `from` to `to` (exclusive) of its message.
 * @typedef {{node: string | null, number: number, role: string, from: number, to: number, share: number, text: string}} Place
 */

/** @param {Float32Array} row @param {TintedChat} chat @returns {Shares} */
export function sharesIn(row, { pieces }) {
  const sum = row.reduce((total, weight) => total + weight, 0) || 1;
  const shares = new Float64Array(pieces.length);
  let [told, strongest] = [0, 0];
  pieces.forEach(({ start, stop }, i) => {
    for (let at = Math.max(1, start); at < Math.min(stop, row.length); at++) shares[i] += row[at] / sum;
    told += shares[i];
    strongest = Math.max(strongest, shares[i]);
  });
  const first = row.length ? row[0] / sum : 0;
  return { pieces: shares, strongest, first, template: Math.max(0, 1 - first - told) };
}

/**
 * The sentences with the largest shares, largest first.
 * @param {Shares} shares @param {TintedChat} chat @param {number} count @returns {Place[]}
 */
export function placesIn({ pieces }, chat, count) {
  /** @type {Map<string, Place>} */
  const found = new Map();
  pieces.forEach((share, i) => {
    if (!(share > 0)) return;
    const { node } = chat.pieces[i];
    const message = chat.messages.get(node);
    const { from, to } = chat.sentenceOf(i);
    const key = `${node} ${from}`;
    const place = found.get(key);
    if (place) place.share += share;
    else if (message) {
      const { number, role, content } = message;
      found.set(key, { node, number, role, from, to, share, text: content.slice(from, to) });
    }
  });
  return [...found.values()].sort((one, other) => other.share - one.share).slice(0, count);
}
