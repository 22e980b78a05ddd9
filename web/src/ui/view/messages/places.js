import { drawNow } from './nearby.js';

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
  const place = document.getElementById(placeId(node));
  if (!place) return null;
  drawNow(place);
  place.scrollIntoView({ block: 'center' });
  // What was not drawn yet has its own height after the next drawing.
  await nextFrame();
  (within(place) ?? place).scrollIntoView({ block: 'center' });
  return place;
}

function nextFrame() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}
