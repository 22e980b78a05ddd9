/**
 * TeX as a tree of MathML Core (W3C), made by Temml. Only elements, attributes and styles of the
 * lists below are in it, so that whatever a model writes it is a formula: no links, pictures or scripts.
 */
import temml from 'temml';

/** @typedef {import('./types').MathTree} MathTree */

const ELEMENTS = new Set(
  ('math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover ' +
    'munderover mmultiscripts mprescripts mtable mtr mtd menclose').split(' '),
);
const ATTRIBUTES = new Set(
  ('display displaystyle scriptlevel mathvariant mathcolor mathbackground mathsize stretchy fence separator form ' +
    'lspace rspace minsize maxsize symmetric largeop movablelimits accent accentunder linethickness width height ' +
    'depth voffset columnspan rowspan').split(' '),
);
const STYLES = new Set(
  ('border borderTop borderBottom borderLeft borderRight bottom color display fontFamily fontStyle fontWeight height ' +
    'justifyContent left marginLeft mathDepth padding paddingBottom paddingLeft paddingRight paddingTop position right ' +
    'textAlign transform width').split(' '),
);
const VALUE = /^[\w .%#(),'-]{0,100}$/;
const CLASSES = /^[\w -]{0,100}$/;
const MOST_NODES = 4000;
const OPTIONS = {
  throwOnError: true,
  trust: false,
  strict: false,
  annotate: false,
  maxExpand: 500,
  // In em: what a page has room for.
  maxSize: /** @type {[number, number]} */ ([40, 20]),
};

/**
 * @param {string} tex
 * @param {boolean} display on lines of its own
 * @returns {MathTree | null} null: it is no TeX that can be shown
 */
export function mathml(tex, display) {
  try {
    const how = { ...OPTIONS, displayMode: display, wrap: /** @type {'none' | 'tex'} */ (display ? 'none' : 'tex') };
    const copied = copyOf(temml.__renderToMathMLTree(tex, how), { left: MOST_NODES });
    return typeof copied === 'object' && copied.name === 'math' ? copied : null;
  } catch {
    // Not TeX, or nested deeper than a stack is.
    return null;
  }
}

/**
 * @param {any} node of Temml @param {{left: number}} budget
 * @returns {MathTree | string}
 */
function copyOf(node, budget) {
  budget.left -= 1;
  if (budget.left < 0) throw new RangeError('more nodes than a formula needs');
  if (typeof node.text === 'string') return node.text;
  const children = (node.children ?? []).map((/** @type {any} */ child) => copyOf(child, budget));
  const name = ELEMENTS.has(node.type) ? node.type : 'mrow';
  return { name, attributes: attributesOf(node), style: styleOf(node), children };
}

/** @param {any} node @returns {Record<string, string>} */
function attributesOf(node) {
  const pairs = Object.entries(node.attributes ?? {}).map(([name, value]) => [name, String(value)]);
  const kept = pairs.filter(([name, value]) => ATTRIBUTES.has(name) && VALUE.test(value));
  const names = (node.classes ?? []).filter(Boolean).join(' ') || String(node.attributes?.class ?? '');
  return Object.fromEntries(names && CLASSES.test(names) ? [...kept, ['class', names]] : kept);
}

/** @param {any} node @returns {Record<string, string>} */
function styleOf(node) {
  const pairs = Object.entries(node.style ?? {}).map(([name, value]) => [camel(name), String(value)]);
  return Object.fromEntries(pairs.filter(([name, value]) => STYLES.has(name) && VALUE.test(value)));
}

/** @param {string} name */
function camel(name) {
  return name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
}
