import { useLayoutEffect, useRef } from 'preact/hooks';
import { markEdges } from '../../view/edges.js';

/**
 * What may be wider than the page: it scrolls by itself, and shows at which side there is more.
 * @param {{as: 'div' | 'pre' | 'span', class: string, label: string,
 *   children: import('preact').ComponentChildren}} props
 */
export function Scroller({ as: Box, class: kind, label, children }) {
  const box = useRef(/** @type {any} */ (null));
  useLayoutEffect(() => markEdges(box.current), []);
  return (
    <Box ref={box} class={`scrolls ${kind}`} role="group" aria-label={label}>
      {children}
    </Box>
  );
}
