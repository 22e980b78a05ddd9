// Arrays of a schema.
import { FormTooCostly } from '../errors.js';
import { MAX_COUNT } from '../limits.js';
import { ITEM } from './written.js';

/** @typedef {import('../language/expressions.js').Expression} Expression */

/**
 * @param {import('./compiler.js').Compiler} compiler @param {import('./keywords.js').Schema} schema @param {string} path
 * @returns {Expression}
 */
export function arrayOf(compiler, schema, path) {
  const { expressions: x } = compiler;
  const { prefixItems = [], items = true, minItems = 0, maxItems = Infinity } = schema;
  if (minItems > MAX_COUNT) throw new FormTooCostly(`minItems above ${MAX_COUNT}`);
  const separator = x.text(ITEM);
  const firsts = prefixItems.map((/** @type {unknown} */ part, /** @type {number} */ at) => compiler.value(part, `${path}/prefixItems/${at}`));
  const more = compiler.value(items, `${path}/items`);
  /** What may stand behind `count` items. @param {number} count @returns {Expression} */
  const behind = (count) => {
    const [least, most] = [Math.max(0, minItems - count), maxItems - count];
    if (most < 0) return x.never;
    if (most === 0) return least ? x.never : x.empty;
    if (count >= firsts.length && count > 0) return x.repeat(x.cat(separator, more), least, most);
    const item = x.cat(count ? separator : x.empty, firsts[count] ?? more, behind(count + 1));
    return least ? item : x.optional(item);
  };
  return x.cat(x.text('['), behind(0), x.text(']'));
}
