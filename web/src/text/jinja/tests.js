// Jinja's tests: `value is name`.
import { binary } from './operators.js';
import { TemplateError } from './errors.js';
import { isNumber, numberOf, PyFloat, text } from './values.js';

/** @typedef {import('./values.js').Value} Value */

const sequence = (/** @type {Value} */ value) =>
  value === undefined || typeof value === 'string' || Array.isArray(value) || value instanceof Map;
const whole = (/** @type {Value} */ value) => {
  if (!isNumber(value)) throw new TemplateError('only a number is odd or even');
  return numberOf(value);
};

/** @type {Record<string, (value: Value, other: Value) => boolean>} */
const TESTS = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  string: (value) => typeof value === 'string',
  number: isNumber,
  integer: (value) => typeof value === 'number',
  float: (value) => value instanceof PyFloat,
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  mapping: (value) => value instanceof Map,
  sequence,
  iterable: sequence,
  callable: (value) => typeof value === 'function',
  odd: (value) => Math.abs(whole(value) % 2) === 1,
  even: (value) => whole(value) % 2 === 0,
  lower: (value) => text(value) === text(value).toLowerCase() && text(value) !== text(value).toUpperCase(),
  upper: (value) => text(value) === text(value).toUpperCase() && text(value) !== text(value).toLowerCase(),
  divisibleby: (value, other) => whole(value) % whole(other) === 0,
  in: (value, other) => binary('in', value, other),
};
for (const [operator, ...names] of [
  ['==', 'eq', 'equalto'],
  ['!=', 'ne'],
  ['<', 'lt', 'lessthan'],
  ['<=', 'le'],
  ['>', 'gt', 'greaterthan'],
  ['>=', 'ge'],
]) {
  for (const name of [operator, ...names]) TESTS[name] = (value, other) => binary(operator, value, other);
}

/** @param {string} name @param {Value} value @param {Value} [other] @returns {boolean} */
export function test(name, value, other) {
  if (!Object.hasOwn(TESTS, name)) throw new TemplateError(`there is no test named '${name}'`);
  return TESTS[name](value, other);
}
