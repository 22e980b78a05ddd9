// Operators of expressions, with Python's meaning.
import { TemplateError } from './errors.js';
import {
  bounded,
  checkSize,
  compare,
  equals,
  isNumber,
  isTrue,
  iterate,
  numberOf,
  PyFloat,
  text,
  Tuple,
  typeName,
} from './values.js';

/** @typedef {import('./values.js').Value} Value */

/**
 * @param {string} operator not `and` and `or`, whose right side may not be asked for
 * @param {Value} a
 * @param {Value} b
 * @returns {Value}
 */
export function binary(operator, a, b) {
  switch (operator) {
    case '==':
      return equals(a, b);
    case '!=':
      return !equals(a, b);
    case '<':
      return compare(a, b) < 0;
    case '<=':
      return compare(a, b) <= 0;
    case '>':
      return compare(a, b) > 0;
    case '>=':
      return compare(a, b) >= 0;
    case 'in':
      return contains(b, a);
    case 'not in':
      return !contains(b, a);
    case '~':
      return bounded(text(a) + text(b));
    default:
      return arithmetic(operator, a, b);
  }
}

/** @param {string} operator @param {Value} value */
export function unary(operator, value) {
  if (operator === 'not') return !isTrue(value);
  if (!isNumber(value)) throw new TemplateError(`'${operator}' does not take ${typeName(value)}`);
  return asNumber((operator === '-' ? -1 : 1) * numberOf(value), value instanceof PyFloat);
}

/** @param {Value} container @param {Value} item */
function contains(container, item) {
  if (typeof container === 'string') {
    if (typeof item !== 'string') throw new TemplateError(`${typeName(item)} is not in a text`);
    return container.includes(item);
  }
  if (container instanceof Map) return container.has(item);
  return iterate(container).some((each) => equals(each, item));
}

/** @param {string} operator @param {Value} a @param {Value} b */
function arithmetic(operator, a, b) {
  if (operator === '+' && typeof a === 'string' && typeof b === 'string') return bounded(a + b);
  if (operator === '+' && Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple) {
    checkSize(a, a.length + b.length);
    return a.concat(b);
  }
  if (operator === '*' && typeof b === 'number' && (typeof a === 'string' || Array.isArray(a)))
    return repeated(a, b);
  if (operator === '*' && typeof a === 'number' && (typeof b === 'string' || Array.isArray(b)))
    return repeated(b, a);
  if (!isNumber(a) || !isNumber(b)) {
    throw new TemplateError(`'${operator}' is not between ${typeName(a)} and ${typeName(b)}`);
  }
  return calculated(operator, numberOf(a), numberOf(b), a instanceof PyFloat || b instanceof PyFloat);
}

/** @param {string | Value[]} value @param {number} count */
function repeated(value, count) {
  const times = Math.max(count, 0);
  checkSize(value, value.length * times);
  return typeof value === 'string' ? value.repeat(times) : Array.from({ length: times }, () => value).flat();
}

/** @param {string} operator @param {number} a @param {number} b @param {boolean} float */
function calculated(operator, a, b, float) {
  if (b === 0 && ['/', '//', '%'].includes(operator)) throw new TemplateError('division by zero');
  switch (operator) {
    case '+':
      return asNumber(a + b, float);
    case '-':
      return asNumber(a - b, float);
    case '*':
      return asNumber(a * b, float);
    case '/':
      return new PyFloat(a / b);
    case '//':
      return asNumber(Math.floor(a / b), float);
    case '%':
      return asNumber(a - b * Math.floor(a / b), float);
    case '**':
      return asNumber(a ** b, float || b < 0);
    default:
      throw new TemplateError(`the operator '${operator}' is not supported`);
  }
}

/** @param {number} value @param {boolean} float */
function asNumber(value, float) {
  if (float) return new PyFloat(value);
  if (!Number.isSafeInteger(value)) throw new TemplateError('a whole number is too large');
  return value;
}
