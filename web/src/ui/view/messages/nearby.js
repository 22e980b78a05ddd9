// What lies within one screen of the list is drawn before it is scrolled to.
const MARGIN = '100% 0px';
const DRAW = 'draw';

/** @type {WeakMap<Element, IntersectionObserver>} by list */
const observers = new WeakMap();
/** @type {WeakMap<Element, () => void>} */
const waiting = new WeakMap();

/**
 * Calls `draw` once, when an element of a list comes near what is seen of it, or is asked for.
 * @param {Element} element @param {Element} list that scrolls @param {() => void} draw
 * @returns {() => void} it is not waited for any more
 */
export function whenNear(element, list, draw) {
  const observer = observerOf(list);
  const ends = () => {
    observer.unobserve(element);
    waiting.delete(element);
    element.removeEventListener(DRAW, run);
  };
  const run = () => {
    ends();
    draw();
  };
  waiting.set(element, run);
  element.addEventListener(DRAW, run);
  observer.observe(element);
  return ends;
}

/** Has an element drawn wherever it lies, and what is folded in it. @param {Element} element */
export function drawNow(element) {
  element.dispatchEvent(new Event(DRAW));
  for (const folded of element.querySelectorAll('.folded')) folded.dispatchEvent(new Event(DRAW));
}

/** @param {Element} element @param {() => void} run when it is to be drawn whole @returns {() => void} stops it */
export function whenDrawn(element, run) {
  element.addEventListener(DRAW, run);
  return () => element.removeEventListener(DRAW, run);
}

/** @param {Element} list */
function observerOf(list) {
  const known = observers.get(list);
  if (known) return known;
  const seen = (/** @type {IntersectionObserverEntry[]} */ entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.();
  };
  const observer = new IntersectionObserver(seen, { root: list, rootMargin: MARGIN });
  observers.set(list, observer);
  return observer;
}

/**
 * What is read stays where it is when something above it gets another height, in browsers that do not see to that.
 * @param {HTMLElement} element @param {DOMRect} before its place until now
 * @param {HTMLElement} list @param {(property: string, value: string) => boolean} [supports]
 */
export function holdStill(element, before, list, supports = (property, value) => CSS.supports(property, value)) {
  if (supports('overflow-anchor', 'auto')) return;
  if (before.bottom > list.getBoundingClientRect().top) return;
  list.scrollTop += element.getBoundingClientRect().height - before.height;
}
