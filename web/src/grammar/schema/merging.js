// Several schemas that hold at once (allOf, what stands beside $ref or anyOf) as one.
import { SchemaInvalid } from '../errors.js';

/** @typedef {import('./keywords.js').Schema} Schema */

const HIGHEST = new Set(['minLength', 'minItems', 'minProperties', 'minimum', 'exclusiveMinimum']);
const LOWEST = new Set(['maxLength', 'maxItems', 'maxProperties', 'maximum', 'exclusiveMaximum']);
/** Put together apart from the others, as they belong together. */
const OBJECT = ['properties', 'additionalProperties', 'patternProperties'];
const ARRAY = ['items', 'prefixItems'];

/**
 * Neither has $ref, allOf, anyOf or oneOf.
 * @param {Schema} one @param {Schema} other @param {string} path
 * @returns {Schema} throws SchemaInvalid
 */
export function merged(one, other, path) {
  const result = { ...one };
  for (const [name, value] of Object.entries(other)) {
    if (OBJECT.includes(name) || ARRAY.includes(name)) continue;
    result[name] = Object.hasOwn(one, name) ? both(name, one[name], value, path) : value;
  }
  return { ...result, ...objects(one, other, path), ...arrays(one, other) };
}

/** @param {string} name @param {any} one @param {any} other @param {string} path */
function both(name, one, other, path) {
  if (JSON.stringify(one) === JSON.stringify(other)) return one;
  if (HIGHEST.has(name)) return Math.max(one, other);
  if (LOWEST.has(name)) return Math.min(one, other);
  if (name === 'required') return [...new Set([...one, ...other])];
  if (name === 'type') return typesOf(one).filter((type) => typesOf(other).includes(type));
  if (name === 'enum') {
    const known = new Set(one.map((/** @type {unknown} */ value) => JSON.stringify(value)));
    return other.filter((/** @type {unknown} */ value) => known.has(JSON.stringify(value)));
  }
  if (name === 'pattern' || name === 'multipleOf') return [one, other].flat();
  if (name === 'const') throw new SchemaInvalid('two values at once meet no text', path);
  if (name === 'format') throw new SchemaInvalid('two formats at once cannot be enforced', path);
  return one;
}

/** An integer is a number. @param {string | string[]} type */
function typesOf(type) {
  const names = [type].flat();
  return names.includes('number') ? [...new Set([...names, 'integer'])] : names;
}

/** @param {Schema} one @param {Schema} other @param {string} path */
function objects(one, other, path) {
  const has = (/** @type {Schema} */ schema) => OBJECT.some((name) => Object.hasOwn(schema, name));
  if (!has(one) || !has(other)) return has(other) ? only(other, OBJECT) : {};
  if (one.patternProperties || other.patternProperties) {
    throw new SchemaInvalid('patternProperties beside other schemas of an object cannot be enforced', path);
  }
  const names = new Set([...Object.keys(one.properties ?? {}), ...Object.keys(other.properties ?? {})]);
  const at = (/** @type {Schema} */ schema, /** @type {string} */ name) =>
    Object.hasOwn(schema.properties ?? {}, name) ? schema.properties[name] : (schema.additionalProperties ?? true);
  const pairs = [...names].map((name) => [name, together(at(one, name), at(other, name))]);
  const additionalProperties = together(one.additionalProperties ?? true, other.additionalProperties ?? true);
  return { properties: Object.fromEntries(pairs), additionalProperties };
}

/** @param {Schema} one @param {Schema} other */
function arrays(one, other) {
  const has = (/** @type {Schema} */ schema) => ARRAY.some((name) => Object.hasOwn(schema, name));
  if (!has(one) || !has(other)) return has(other) ? only(other, ARRAY) : {};
  const length = Math.max(one.prefixItems?.length ?? 0, other.prefixItems?.length ?? 0);
  const at = (/** @type {Schema} */ schema, /** @type {number} */ place) =>
    schema.prefixItems?.[place] ?? schema.items ?? true;
  const prefixItems = Array.from({ length }, (_, place) => together(at(one, place), at(other, place)));
  return { prefixItems, items: together(one.items ?? true, other.items ?? true) };
}

/** @param {any} one @param {any} other */
function together(one, other) {
  if (one === true) return other;
  if (other === true || JSON.stringify(one) === JSON.stringify(other)) return one;
  return one === false || other === false ? false : { allOf: [one, other] };
}

/** @param {Schema} schema @param {string[]} names */
function only(schema, names) {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(schema, name)).map((name) => [name, schema[name]]));
}
