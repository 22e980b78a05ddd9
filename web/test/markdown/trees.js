// Short words for trees in tests, and what a reader sees of one.

/** @typedef {import('../../src/markdown/types').Block} Block */
/** @typedef {import('../../src/markdown/types').Inline} Inline */

/** @param {string} text */
export const t = (text) => ({ type: 'text', text });

/** @param {...any} children */
export const p = (...children) => ({ type: 'paragraph', children });

/** Every object of a tree. @param {any} value @returns {Generator<any>} */
export function* nodesIn(value) {
  const waiting = [value];
  while (waiting.length) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) yield next;
    waiting.push(...Object.values(next));
  }
}

/** @param {(Block|Inline)[]} nodes @returns {string} */
export function plainText(nodes) {
  return nodes.map(textOf).join(nodes.some((node) => node.type === 'paragraph') ? '\n' : '');
}

/** @param {any} node @returns {string} */
function textOf(node) {
  if (node.text !== undefined) return node.text;
  if (node.type === 'formula') return node.tex;
  if (node.type === 'break') return '\n';
  if (node.items) return node.items.map((/** @type {any} */ item) => plainText(item.children)).join('\n');
  if (node.rows) return [node.header, ...node.rows].flat().map(plainText).join('|');
  return plainText(node.children ?? []);
}

/** How many objects stand within each other. @param {any} value @returns {number} */
export function depthOf(value) {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : 1;
  let deepest = 0;
  for (const each of Object.values(value)) deepest = Math.max(deepest, depthOf(each));
  return own + deepest;
}
