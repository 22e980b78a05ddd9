/** Formulas back in the tree of a text that was read with masks in their places. */
import { partsOf, sourceOf } from './masked.js';

/** @typedef {import('../types').Block} Block */
/** @typedef {import('../types').Inline} Inline */
/** @typedef {import('./masked.js').Held} Held */

/**
 * @param {Block[]} blocks @param {readonly Held[]} held what the masks stand for
 * @returns {Block[]}
 */
export function restored(blocks, held) {
  return held.length ? blocks.map((block) => blockOf(block, held)) : blocks;
}

/** @param {Block} block @param {readonly Held[]} held @returns {Block} */
function blockOf(block, held) {
  switch (block.type) {
    case 'paragraph':
      return paragraphOf(inlinesOf(block.children, held));
    case 'heading':
      return { ...block, children: inlinesOf(block.children, held) };
    case 'code':
      return { ...block, lang: sourceOf(block.lang, held), text: sourceOf(block.text, held) };
    case 'list':
      return { ...block, items: block.items.map((item) => ({ ...item, children: restored(item.children, held) })) };
    case 'quote':
      return { ...block, children: restored(block.children, held) };
    case 'table': {
      const cellsOf = (/** @type {Inline[][]} */ cells) => cells.map((cell) => inlinesOf(cell, held));
      return { ...block, header: cellsOf(block.header), rows: block.rows.map(cellsOf) };
    }
    default:
      return block;
  }
}

/** A display has lines of its own already. @param {Inline[]} children @returns {Block} */
function paragraphOf(children) {
  const own = (/** @type {Inline | undefined} */ inline) => inline?.type === 'formula' && inline.display;
  const kept = children.filter(
    ({ type }, index) => type !== 'break' || !(own(children[index - 1]) || own(children[index + 1])),
  );
  const [first] = kept;
  return kept.length === 1 && first.type === 'formula' && first.display ? first : { type: 'paragraph', children: kept };
}

/** @param {Inline[]} inlines @param {readonly Held[]} held @returns {Inline[]} */
function inlinesOf(inlines, held) {
  return inlines.flatMap((inline) => inlineOf(inline, held));
}

/** @param {Inline} inline @param {readonly Held[]} held @returns {Inline[]} */
function inlineOf(inline, held) {
  switch (inline.type) {
    case 'text':
      return partsOf(inline.text, held).map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part));
    case 'code':
      return [{ ...inline, text: sourceOf(inline.text, held) }];
    case 'strong':
    case 'em':
    case 'strike':
    case 'link':
      return [{ ...inline, children: inlinesOf(inline.children, held) }];
    default:
      return [inline];
  }
}
