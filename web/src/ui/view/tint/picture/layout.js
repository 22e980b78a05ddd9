// A tinted conversation as lines of words, for pictures of it.

/** @typedef {{dim: number, looked: number, chosen: boolean}} Look dim 0 to 3, looked 0 to 4 */
/** A part of a message that looks the same all over. @typedef {Look & {text: string}} Fragment */
/** @typedef {{title: string, fragments: Fragment[]}} Said */
/** Where a word stands; `y` is its base line, in pixels. @typedef {Look & {text: string, x: number, y: number, width: number}} Word */
/** @typedef {{width: number, height: number, titles: {text: string, y: number}[], words: Word[]}} Layout */

export const WIDTH = 720;
export const MARGIN = 24;
export const LINE = 24;
export const SIZE = 16;
const GAP = 16;

/**
 * @param {Said[]} said
 * @param {(text: string) => number} measure pixels of a text
 * @returns {Layout}
 */
export function laidOut(said, measure) {
  /** @type {Word[]} */
  const words = [];
  const titles = [];
  let y = MARGIN;
  for (const { title, fragments } of said) {
    titles.push({ text: title, y: y + SIZE });
    y = flow(fragments, y + LINE + SIZE, measure, words) + LINE - SIZE + GAP;
  }
  return { width: WIDTH, height: y + MARGIN, titles, words };
}

/**
 * @param {Fragment[]} fragments @param {number} top base line of the first one
 * @param {(text: string) => number} measure @param {Word[]} words that are added to
 * @returns {number} base line of the last one
 */
function flow(fragments, top, measure, words) {
  let [x, y] = [MARGIN, top];
  for (const { text, ...look } of fragments) {
    for (const [word] of text.matchAll(/\n|[^\S\n]+|\S+/g)) {
      const width = word === '\n' ? 0 : measure(word);
      if (word === '\n' || (x + width > WIDTH - MARGIN && x > MARGIN)) {
        [x, y] = [MARGIN, y + LINE];
        if (!word.trim()) continue;
      }
      words.push({ ...look, text: word, x, y, width });
      x += width;
    }
  }
  return y;
}

/**
 * The fragments of a message.
 * @param {string} content
 * @param {(Look & {at: number, length: number})[]} parts in order; what lies between them looks plain
 * @returns {Fragment[]}
 */
export function fragmentsOf(content, parts) {
  /** @type {Fragment[]} */
  const fragments = [];
  let done = 0;
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {Look} */ { dim, looked, chosen }) => {
    const last = fragments.at(-1);
    if (to <= from) return;
    if (last?.dim === dim && last.looked === looked && last.chosen === chosen) last.text += content.slice(from, to);
    else fragments.push({ text: content.slice(from, to), dim, looked, chosen });
    done = to;
  };
  for (const part of parts) {
    add(done, part.at, PLAIN);
    add(Math.max(done, part.at), part.at + part.length, part);
  }
  add(done, content.length, PLAIN);
  return fragments;
}

const PLAIN = { dim: 0, looked: 0, chosen: false };
