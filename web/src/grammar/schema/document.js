// A JSON schema as a text, before anything is made of it: JSON, small, not nested deeply, with keywords that are known.
import { SchemaInvalid } from '../errors.js';
import { brokenAt } from './json_place.js';
import { KEYWORDS, checkKeywords, isSchemaObject, schemasIn } from './keywords.js';

/** @typedef {import('./keywords.js').Schema} Schema */

/** Values that a keyword may have. @type {Record<string, (value: any) => boolean>} */
const SHAPES = {
  type: (value) => [value].flat().every((name) => TYPES.includes(name)) && [value].flat().length > 0,
  enum: (value) => Array.isArray(value) && value.length > 0,
  required: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  properties: areSchemas, patternProperties: areSchemas, $defs: areSchemas, definitions: areSchemas,
  items: isSchema, additionalProperties: isSchema,
  allOf: isList, anyOf: isList, oneOf: isList, prefixItems: isList,
  minLength: isCount, maxLength: isCount, minItems: isCount, maxItems: isCount,
  minProperties: isCount, maxProperties: isCount,
  minimum: Number.isFinite, maximum: Number.isFinite, exclusiveMinimum: Number.isFinite, exclusiveMaximum: Number.isFinite,
  multipleOf: (value) => Number.isFinite(value) && value > 0,
  pattern: (value) => typeof value === 'string', format: (value) => typeof value === 'string',
  $ref: (value) => typeof value === 'string',
};
export const TYPES = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'];

/** @param {string} text JSON @returns {Schema} throws SchemaInvalid */
export function readSchema(text) {
  const size = new TextEncoder().encode(text).length;
  if (size > KEYWORDS.most_bytes) throw new SchemaInvalid(`it has ${size} bytes, more than ${KEYWORDS.most_bytes}`, null);
  const schema = parsed(text);
  if (!isSchemaObject(schema)) throw new SchemaInvalid('it is not an object', null);
  if (depth(schema) > KEYWORDS.most_depth) throw new SchemaInvalid(`it is nested deeper than ${KEYWORDS.most_depth}`, null);
  checkKeywords(schema);
  checkShapes(schema);
  return schema;
}

/**
 * The target of a JSON pointer within `root`; undefined for other references and for nothing.
 * @param {Schema} root @param {string} reference
 */
export function resolved(root, reference) {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let value = /** @type {any} */ (root);
  for (const part of unquoted(reference.slice(1)).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    const { line, column } = brokenAt(text);
    const what = text.trim() ? `not JSON: see line ${line}, column ${column}` : 'empty';
    throw new SchemaInvalid(`it is ${what}`, null);
  }
}

/**
 * @param {unknown} value
 * @returns {number} arrays and objects within each other; above the limit it is not counted on
 */
function depth(value) {
  let level = [value];
  for (let found = 0; ; found++) {
    level = level.flatMap((outer) => (typeof outer === 'object' && outer !== null ? Object.values(outer) : []));
    if (!level.length || found > KEYWORDS.most_depth) return found;
  }
}

/** @param {Schema} schema */
function checkShapes(schema) {
  for (const [path, node] of schemasIn(schema)) {
    for (const [name, fits] of Object.entries(SHAPES)) {
      if (Object.hasOwn(node, name) && !fits(node[name])) throw new SchemaInvalid(`${name} has a value that it may not have`, path);
    }
    if (typeof node.$ref === 'string' && !isSchema(resolved(schema, node.$ref))) {
      throw new SchemaInvalid(`$ref '${node.$ref.slice(0, 60)}' leads to no schema within it`, path);
    }
  }
}

/** @param {unknown} value */
function isSchema(value) {
  return typeof value === 'boolean' || isSchemaObject(value);
}

/** @param {unknown} value */
function isList(value) {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema);
}

/** @param {unknown} value */
function areSchemas(value) {
  return isSchemaObject(value) && Object.values(value).every(isSchema);
}

/** @param {unknown} value */
function isCount(value) {
  return Number.isInteger(value) && Number(value) >= 0;
}

/** @param {string} text */
function unquoted(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
