import { useEffect, useState } from 'preact/hooks';
import { Renderer, keyOf } from '../../markdown/rendering/renderer.js';

/** @typedef {import('../../markdown/rendering/types').Job} Job */

const renderer = new Renderer();
let styled = false;

/**
 * What the rendering worker makes of a job; null: it stays text, for now or for good.
 * @param {Job | null} job null: nothing to be done yet
 * @returns {import('../../markdown/rendering/types').Result}
 */
export function useRendered(job) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (!job || renderer.kept(job) !== undefined) return undefined;
    let here = true;
    style();
    void renderer.ask(job).then(() => here && redraw((count) => count + 1));
    return () => (here = false);
  }, [job && keyOf(job)]);
  return (job && renderer.kept(job)) ?? null;
}

/** Puts the style sheet of formulas and coloured code on the page. */
function style() {
  if (styled) return;
  styled = true;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('./rendered.css', import.meta.url).href;
  document.head.append(link);
}
