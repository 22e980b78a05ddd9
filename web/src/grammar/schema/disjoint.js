// Whether no text meets two schemas, as far as that is seen from their types and fixed values.
import { isSchemaObject } from './keywords.js';

/** @typedef {import('./keywords.js').Schema} Schema */

/** @param {Schema} one @param {Schema} other without branches; false where it cannot be told @returns {boolean} */
export function areDisjoint(one, other) {
  const [left, right] = [valuesOf(one), valuesOf(other)];
  if (left && right) return !left.some((value) => right.includes(value));
  const types = kindsOf(one).filter((kind) => kindsOf(other).includes(kind));
  if (!types.length) return true;
  return types.length === 1 && types[0] === 'object' && haveDisjointProperty(one, other);
}

/** @param {Schema} one @param {Schema} other */
function haveDisjointProperty(one, other) {
  const isIn = (/** @type {Schema} */ schema, /** @type {string} */ name) => Object.hasOwn(schema.properties ?? {}, name);
  const required = (one.required ?? []).filter((/** @type {string} */ name) => isIn(one, name));
  const closed = (/** @type {Schema} */ by, /** @type {Schema} */ from) => by.additionalProperties === false && !by.patternProperties &&
    (from.required ?? []).some((/** @type {string} */ name) => !isIn(by, name));
  if (closed(one, other) || closed(other, one)) return true;
  return required.some((/** @type {string} */ name) => {
    const [left, right] = [one.properties[name], isIn(other, name) ? other.properties[name] : true];
    return isPlain(left) && isPlain(right) && areDisjoint(left, right);
  });
}

/** @param {unknown} schema @returns {schema is Schema} */
function isPlain(schema) {
  return isSchemaObject(schema) && !['$ref', 'allOf', 'anyOf', 'oneOf'].some((name) => Object.hasOwn(schema, name));
}

/** @param {Schema} schema @returns {string[] | null} */
function valuesOf(schema) {
  if (Object.hasOwn(schema, 'const')) return [JSON.stringify(schema.const)];
  return schema.enum ? schema.enum.map((/** @type {unknown} */ value) => JSON.stringify(value)) : null;
}

/** Integers count as numbers. @param {Schema} schema @returns {string[]} */
function kindsOf(schema) {
  const values = valuesOf(schema);
  if (values) return [...new Set(values.map((text) => kindOf(JSON.parse(text))))];
  const types = Object.hasOwn(schema, 'type') ? [schema.type].flat() : ['null', 'boolean', 'number', 'string', 'array', 'object'];
  return types.map((/** @type {string} */ type) => (type === 'integer' ? 'number' : type));
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
