// Python's values in JavaScript, as templates see them.
//
//   str string · int number · float PyFloat · bool boolean · None null · undefined undefined
//   list Array · tuple Tuple · dict Map · namespace Namespace · functions (args, kwargs) => value
import { TemplateError, TooCostly } from './errors.js';

/** @typedef {any} Value */
/** @typedef {(args: Value[], kwargs: Map<string, Value>) => Value} Callable */

export const MAX_STRING = 16 << 20;
export const MAX_ITEMS = 1_000_000;

export class PyFloat {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/** @extends {Array<Value>} */
export class Tuple extends Array {}

/** What `set ns.name` may change; attributes alone, no items. */
export class Namespace {
  /** @param {Map<string, Value>} values */
  constructor(values) {
    this.values = values;
  }
}

/** From what JSON.parse gives. @param {unknown} value @returns {Value} */
export function fromJson(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? value : new PyFloat(value);
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, fromJson(item)]));
}

/** @param {Value} value */
export function isTrue(value) {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return value instanceof PyFloat ? value.value !== 0 : Boolean(value);
}

/** @param {Value} value */
export function isNumber(value) {
  return typeof value === 'number' || typeof value === 'boolean' || value instanceof PyFloat;
}

/** @param {Value} value a number of any kind @returns {number} */
export function numberOf(value) {
  return value instanceof PyFloat ? value.value : Number(value);
}

/** Python's ==. @param {Value} a @param {Value} b @returns {boolean} */
export function equals(a, b) {
  if (isNumber(a) && isNumber(b)) return numberOf(a) === numberOf(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    const sameKind = a instanceof Tuple === b instanceof Tuple;
    return sameKind && a.length === b.length && a.every((item, index) => equals(item, b[index]));
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equals(item, b.get(key)));
  }
  return a === b;
}

/** Python's order: below 0, 0, above 0. @param {Value} a @param {Value} b @returns {number} */
export function compare(a, b) {
  if (isNumber(a) && isNumber(b)) return numberOf(a) - numberOf(b);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
      if (!equals(a[index], b[index])) return compare(a[index], b[index]);
    }
    return a.length - b.length;
  }
  throw new TemplateError(`'<' is not between ${typeName(a)} and ${typeName(b)}`);
}

/** By code points, which UTF-16 units do not follow. @param {string} a @param {string} b */
function compareText(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = Number(left[index].codePointAt(0)) - Number(right[index].codePointAt(0));
    if (difference) return difference;
  }
  return left.length - right.length;
}

/** @param {Value} value */
export function typeName(value) {
  if (value === undefined) return 'undefined';
  if (value === null) return 'none';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Map) return 'dict';
  return value instanceof PyFloat ? 'float' : typeof value;
}

/** What a loop goes over. @param {Value} value @returns {Value[]} */
export function iterate(value) {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys()];
  if (typeof value === 'string') return [...value];
  throw new TemplateError(`${typeName(value)} is not iterable`);
}

/** Python's str(). @param {Value} value @returns {string} */
export function text(value) {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : repr(value);
}

/** Python's repr(). @param {Value} value @returns {string} */
export function repr(value) {
  if (typeof value === 'string') return quoted(value);
  if (value === undefined) return 'Undefined';
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'number') return String(value);
  if (value instanceof PyFloat) return floatText(value.value);
  if (value instanceof Tuple) return `(${value.map(repr).join(', ')}${value.length === 1 ? ',' : ''})`;
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`;
  throw new TemplateError(`${typeName(value)} has no text`);
}

/** repr() of a float: an exponent below 1e-4 and from 1e16 on. @param {number} value */
export function floatText(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits, exponent] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 16)) {
    return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const plain = power < 0 && value !== 0 ? value.toFixed(decimals(digits) - power) : String(value);
  return plain.includes('.') ? plain : `${plain}.0`;
}

/** @param {string} digits */
function decimals(digits) {
  return digits.replace('-', '').replace('.', '').length - 1;
}

// What str.isprintable refuses, the backslash, and not the space.
const ESCAPED = /[\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
/** @type {Record<string, string>} */
const ESCAPES = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** @param {string} value */
function quoted(value) {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replace(ESCAPED, escapeOf);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

/** @param {string} character */
function escapeOf(character) {
  const code = Number(character.codePointAt(0));
  const hex = code.toString(16);
  if (character in ESCAPES) return ESCAPES[character];
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** @template {string | Value[]} T @param {T} value @returns {T} */
export function bounded(value) {
  checkSize(value, value.length);
  return value;
}

/**
 * Whether a value of this kind may be that long.
 * @param {string | Value[]} kind
 * @param {number} length
 * @throws {TooCostly}
 */
export function checkSize(kind, length) {
  if (length > (typeof kind === 'string' ? MAX_STRING : MAX_ITEMS)) {
    throw new TooCostly('it makes too large a value');
  }
}
