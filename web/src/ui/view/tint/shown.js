// A message as the page shows it: from places in its source to ranges of the page, and back.
import { aligned, shownParts, sourcePlace } from './alignment.js';

// What the page adds to a message's own text, or draws in place of it.
const NOT_ITS_OWN = 'figcaption, button, math, .unseen, [aria-hidden="true"]';

/** The texts of one element; of no use any more once those have changed. */
export class Shown {
  /** @param {Element} element @param {string} source */
  constructor(element, source) {
    this.source = source;
    this._texts = textsIn(element);
    this._runs = aligned(source, this._texts.map((text) => text.data));
  }

  /** Whether the page still has what this was made of. */
  get fresh() {
    return this._texts.every((text) => text.isConnected);
  }

  /**
   * The ranges that show a piece of the source; none where it is shown otherwise.
   * @param {number} from @param {number} to exclusive @returns {Range[]}
   */
  ranges(from, to) {
    return shownParts(this._runs, from, to).map((part) => {
      const range = new Range();
      const text = this._texts[part.text];
      range.setStart(text, Math.min(part.from, text.length));
      range.setEnd(text, Math.min(part.to, text.length));
      return range;
    });
  }

  /** Where in the source a place of the page is; -1: nowhere. @param {Node} node @param {number} offset */
  placeOf(node, offset) {
    const text = this._texts.indexOf(/** @type {Text} */ (node));
    return text < 0 ? -1 : sourcePlace(this._runs, text, offset);
  }
}

/** @param {Element} element @returns {Text[]} */
function textsIn(element) {
  const accept = (/** @type {Node} */ node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    return /** @type {Element} */ (node).matches(NOT_ITS_OWN) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  };
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, accept);
  const texts = [];
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  return texts;
}

/**
 * The text under a point of the page, and where in it.
 * @param {number} x @param {number} y @returns {{node: Node, offset: number} | null}
 */
export function textAt(x, y) {
  // Safari has only the older one of the two.
  const page = /** @type {any} */ (document);
  const place = page.caretPositionFromPoint?.(x, y);
  if (place) return { node: place.offsetNode, offset: place.offset };
  const range = page.caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}
