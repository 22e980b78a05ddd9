import { h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useRendered } from '../../view/rendered.js';
import { Scroller } from './scroller.jsx';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../markdown/rendering/types').MathTree} MathTree */

/**
 * A formula; its source until it is rendered, and where it cannot be.
 * @param {{formula: import('../../../markdown/types').Formula}} props
 */
export function Formula({ formula: { tex, display, open } }) {
  const tree = /** @type {MathTree | null} */ (
    useRendered(open ? null : { kind: 'formula', text: tex, display })
  );
  const shown = tree ? elementOf(tree) : <code>{tex}</code>;
  const inline = useRef(/** @type {HTMLElement | null} */ (null));
  const [wide, setWide] = useState(false);
  useLayoutEffect(() => {
    const box = inline.current;
    if (box && box.scrollWidth > box.clientWidth + 1) setWide(true);
  }, [tree]);
  if (!display && !tree) return shown;
  if (display || wide) {
    return (
      <Scroller as="span" class="formula-box" label={t('Formula')}>
        {shown}
      </Scroller>
    );
  }
  return (
    <span ref={inline} class="formula">
      {shown}
    </span>
  );
}

/** @param {MathTree | string} node @returns {import('preact').ComponentChild} */
function elementOf(node) {
  if (typeof node === 'string') return node;
  return h(/** @type {any} */ (node.name), { ...node.attributes, style: node.style }, node.children.map(elementOf));
}
