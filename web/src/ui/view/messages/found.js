/** Words in the messages of a chat, and the places where they stand on the page. */
import { folded } from '../../../chats/text.js';
import { rough } from './rough.js';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

const HIGHLIGHT = 'found';
// More would be a search for a single letter.
const MOST_RANGES = 500;
const SLICE_MS = 8;

/**
 * The messages that have `sought`, without regard to case, as they are read and not as they are written. A long chat is
 * gone through in slices, between which the page is drawn.
 * @param {readonly ChatNode[]} nodes @param {string} sought
 * @param {{wanted?: () => boolean, now?: () => number, breathe?: () => Promise<unknown>}} [how] wanted: whether anybody
 *   still wants to know
 * @returns {Promise<string[] | null>} ids; null: nobody does
 */
export async function messagesWith(nodes, sought, { wanted = () => true, now = () => performance.now(), breathe = nextTurn } = {}) {
  const words = folded(sought.trim());
  /** @type {string[]} */
  const found = [];
  let since = now();
  for (const { id, role, content } of words ? nodes : []) {
    if (folded(role === 'user' ? content : rough(content)).includes(words)) found.push(id);
    if (now() - since < SLICE_MS) continue;
    await breathe();
    if (!wanted()) return null;
    since = now();
  }
  return found;
}

/**
 * Where the words stand in an element.
 * @param {Element} element @param {string} sought @returns {Range[]}
 */
export function rangesOf(element, sought) {
  const wanted = folded(sought.trim());
  const texts = textsOf(element);
  const whole = texts.map((text) => text.data).join('');
  const low = folded(whole);
  // Letters that fold to several would shift every place.
  if (!wanted || low.length !== whole.length) return [];
  /** @type {Range[]} */
  const ranges = [];
  for (let at = low.indexOf(wanted); at >= 0 && ranges.length < MOST_RANGES; at = low.indexOf(wanted, at + 1)) {
    ranges.push(rangeOf(texts, at, at + wanted.length));
  }
  return ranges;
}

/** @returns {Promise<void>} */
function nextTurn() {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Marks ranges on the page, where the browser can; none: no more. @param {Range[]} ranges */
export function mark(ranges) {
  if (!('highlights' in CSS)) return;
  if (ranges.length) CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
  else CSS.highlights.delete(HIGHLIGHT);
}

/** Of what was said; its buttons are left out. @param {Element} element @returns {Text[]} */
function textsOf(element) {
  const texts = [];
  for (const said of element.querySelectorAll('.bubble, .text')) {
    const walker = document.createTreeWalker(said, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  }
  return texts;
}

/** @param {Text[]} texts @param {number} start @param {number} end of all texts together */
function rangeOf(texts, start, end) {
  const range = document.createRange();
  let before = 0;
  for (const text of texts) {
    const after = before + text.length;
    if (start >= before && start < after) range.setStart(text, start - before);
    if (end > before && end <= after) {
      range.setEnd(text, end - before);
      break;
    }
    before = after;
  }
  return range;
}
