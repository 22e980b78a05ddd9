import { drawNow } from './nearby.js';

const LIST = 'messages';
const WANTED = 'wanted';

/** @param {string} node @returns {string} the id of the element in which a message stands */
export function placeId(node) {
  return `message-${node}`;
}

/**
 * Brings a message into view, drawn.
 * @param {string} node @param {(element: HTMLElement) => Element | null} [within] the part of it that is meant
 * @returns {Promise<HTMLElement | null>} null: it is not shown
 */
export async function goTo(node, within = (element) => element) {
  const place = await brought(node);
  if (!place) return null;
  place.scrollIntoView({ block: 'center' });
  // What was not drawn yet has its own height after the next drawing.
  await nextFrame();
  (within(place) ?? place).scrollIntoView({ block: 'center' });
  return place;
}

/**
 * Has a message stand in the page, drawn: of a long chat not all do.
 * @param {string} node @returns {Promise<HTMLElement | null>} null: the shown chat has no such one
 */
export async function brought(node) {
  if (!document.getElementById(placeId(node))) {
    document.getElementById(LIST)?.dispatchEvent(new CustomEvent(WANTED, { detail: node }));
    await nextFrame();
  }
  const place = document.getElementById(placeId(node));
  if (place) drawNow(place);
  return place;
}

/**
 * Calls `show` with messages that are to stand in the page and do not.
 * @param {EventTarget} list @param {(node: string) => void} show @returns {() => void} no more
 */
export function whenWanted(list, show) {
  const wanted = (/** @type {Event} */ event) => show(/** @type {CustomEvent} */ (event).detail);
  list.addEventListener(WANTED, wanted);
  return () => list.removeEventListener(WANTED, wanted);
}

function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
