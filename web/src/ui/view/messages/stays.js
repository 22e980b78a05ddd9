import { placeId } from './places.js';

/**
 * Has a message stay where it is while others come before it or leave, in any browser: some move what is read by
 * themselves, others do not, and none does at the very beginning.
 * @param {string} node @returns {() => void} called when they have, and before anything is drawn
 */
export function stays(node) {
  const top = topOf(node);
  const list = document.getElementById(placeId(node))?.closest('.scroll');
  if (!(list instanceof HTMLElement)) return () => {};
  list.style.overflowAnchor = 'none';
  return () => {
    list.scrollTop += topOf(node) - top;
    // The button that was pressed may have gone.
    if (document.activeElement === document.body) list.focus({ preventScroll: true });
    requestAnimationFrame(() => (list.style.overflowAnchor = ''));
  };
}

/** @param {string} node */
function topOf(node) {
  return document.getElementById(placeId(node))?.getBoundingClientRect().top ?? 0;
}
