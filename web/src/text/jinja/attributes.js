// The meaning of `value.name` and `value[key]`.
import { bind } from './arguments.js';
import { TemplateError } from './errors.js';
import { stringMethod } from './strings.js';
import { equals, isNumber, Namespace, numberOf, Tuple } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {import('./values.js').Callable} Callable */

/** What a loop and similar objects show; no items. */
export class Attributes {
  /** @param {Record<string, Value>} values */
  constructor(values) {
    this.values = values;
  }
}

/**
 * `value.name`: an attribute first, then an item.
 * @param {Value} value
 * @param {string} name
 * @returns {Value}
 */
export function attribute(value, name) {
  if (value === undefined) throw new TemplateError(`something undefined has no '${name}'`);
  return own(value, name) ?? (value instanceof Map ? value.get(name) : undefined);
}

/**
 * `value[key]`: an item first, then an attribute.
 * @param {Value} value
 * @param {Value} key
 * @returns {Value}
 */
export function item(value, key) {
  if (value === undefined) throw new TemplateError('something undefined has no items');
  if (value instanceof Map && value.has(key)) return value.get(key);
  if (isNumber(key) && (typeof value === 'string' || Array.isArray(value))) {
    const list = typeof value === 'string' ? [...value] : value;
    return list.at(numberOf(key));
  }
  return typeof key === 'string' ? own(value, key) : undefined;
}

/** @param {Value} value @param {Value} start @param {Value} stop @param {Value} step @returns {Value} */
export function slice(value, start, stop, step) {
  if (typeof value !== 'string' && !Array.isArray(value))
    throw new TemplateError('only lists and texts have slices');
  const list = typeof value === 'string' ? [...value] : value;
  const stride = step ?? 1;
  if (stride === 0) throw new TemplateError('a slice step cannot be zero');
  const limits = stride > 0 ? [0, list.length] : [-1, list.length - 1];
  const at = (/** @type {Value} */ index, /** @type {number} */ missing) => {
    if (index === undefined || index === null) return missing;
    const place = index < 0 ? index + list.length : index;
    return Math.min(Math.max(place, limits[0]), limits[1]);
  };
  const kept = [];
  const end = at(stop, stride > 0 ? list.length : -1);
  for (
    let index = at(start, stride > 0 ? 0 : list.length - 1);
    stride > 0 ? index < end : index > end;
    index += stride
  ) {
    kept.push(list[index]);
  }
  if (typeof value === 'string') return kept.join('');
  return value instanceof Tuple ? Tuple.from(kept) : kept;
}

/** @param {Value} value @param {string} name @returns {Value} */
function own(value, name) {
  if (typeof value === 'string') return stringMethod(value, name);
  if (value instanceof Namespace) return value.values.get(name);
  if (value instanceof Attributes) return Object.hasOwn(value.values, name) ? value.values[name] : undefined;
  if (value instanceof Map) return dictMethod(value, name);
  return Array.isArray(value) ? listMethod(value, name) : undefined;
}

/**
 * Those that change a dict are refused, as in Jinja's immutable sandbox.
 * @param {Map<Value, Value>} dict
 * @param {string} name
 * @returns {Callable | undefined}
 */
function dictMethod(dict, name) {
  switch (name) {
    case 'get':
      return (args) => (dict.has(args[0]) ? dict.get(args[0]) : (args[1] ?? null));
    case 'items':
      return () => pairs(dict);
    case 'keys':
      return () => [...dict.keys()];
    case 'values':
      return () => [...dict.values()];
    case 'copy':
      return () => new Map(dict);
    default:
      return undefined;
  }
}

/** @param {Map<Value, Value>} dict */
export function pairs(dict) {
  return [...dict].map((pair) => Tuple.from(pair));
}

/** @param {Value[]} list @param {string} name @returns {Callable | undefined} */
function listMethod(list, name) {
  if (name === 'copy') return () => [...list];
  if (name === 'count') return (args) => list.filter((each) => equals(each, args[0])).length;
  if (name !== 'index') return undefined;
  return (args, kwargs) => {
    const { value } = bind(['value'], args, kwargs);
    const found = list.findIndex((each) => equals(each, value));
    if (found < 0) throw new TemplateError('what is looked for is not in the list');
    return found;
  };
}
