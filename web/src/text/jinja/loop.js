// The variable `loop`.
import { Attributes } from './attributes.js';
import { TemplateError } from './errors.js';
import { equals } from './values.js';

/** @typedef {import('./values.js').Value} Value */

/**
 * One object for each turn.
 * @param {Value[]} items
 * @param {number} depth of loops around, from 1
 * @returns {(index: number) => Attributes}
 */
export function loopOver(items, depth) {
  /** @type {Value[] | null} */
  let before = null;
  const changed = (/** @type {Value[]} */ args) => {
    const same = before !== null && equals(before, args);
    before = args;
    return !same;
  };
  return (index) =>
    new Attributes({
      index: index + 1,
      index0: index,
      revindex: items.length - index,
      revindex0: items.length - index - 1,
      first: index === 0,
      last: index === items.length - 1,
      length: items.length,
      previtem: items[index - 1],
      nextitem: items[index + 1],
      depth,
      depth0: depth - 1,
      changed,
      cycle: (/** @type {Value[]} */ args) => {
        if (args.length === 0) throw new TemplateError('no items for cycling given');
        return args[index % args.length];
      },
    });
}
