// Which keywords of JSON schemas are enforced: the same list as the Python client's
// (device_client/split_client/grammar/keywords.json), so that both refuse the same schemas by name and path.
import { SchemaInvalid } from '../errors.js';

/** @typedef {Record<string, any>} Schema */

export const KEYWORDS = {
  enforced: [
    '$ref', 'additionalProperties', 'allOf', 'anyOf', 'const', 'enum', 'exclusiveMaximum', 'exclusiveMinimum', 'format',
    'items', 'maxItems', 'maxLength', 'maxProperties', 'maximum', 'minItems', 'minLength', 'minProperties', 'minimum',
    'multipleOf', 'oneOf', 'pattern', 'patternProperties', 'prefixItems', 'properties', 'required', 'type',
  ],
  refused: [
    '$dynamicRef', '$recursiveRef', 'additionalItems', 'contains', 'dependencies', 'dependentRequired',
    'dependentSchemas', 'else', 'if', 'maxContains', 'minContains', 'not', 'propertyNames', 'then', 'unevaluatedItems',
    'unevaluatedProperties', 'uniqueItems',
  ],
  formats: ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'],
  /** @type {Record<string, unknown[]>} */
  harmless: {
    uniqueItems: [false], unevaluatedItems: [true], unevaluatedProperties: [true], additionalItems: [true],
  },
  one_schema: ['additionalProperties', 'items'],
  schemas_in_list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  schemas_by_name: ['$defs', 'definitions', 'patternProperties', 'properties'],
  separators: { item: ', ', key: ': ' },
  most_bytes: 262144,
  most_depth: 64,
  most_choices: 4096,
};

/** Refuses the first keyword that cannot be enforced. @param {unknown} schema @throws {SchemaInvalid} */
export function checkKeywords(schema) {
  for (const [path, node] of schemasIn(schema)) {
    for (const name of KEYWORDS.refused) {
      if (!Object.hasOwn(node, name) || KEYWORDS.harmless[name]?.includes(node[name])) continue;
      throw new SchemaInvalid(`keyword ${name} cannot be enforced; leave it out`, path);
    }
    const { format } = node;
    if (typeof format === 'string' && !KEYWORDS.formats.includes(format)) {
      throw new SchemaInvalid(`format '${format}' cannot be enforced; leave it out`, path);
    }
  }
}

/**
 * Every schema within one with its path; names of properties and values are none.
 * @param {unknown} schema
 * @returns {Generator<[string, Schema], void, void>}
 */
export function* schemasIn(schema) {
  /** @type {[string, unknown][]} */
  const waiting = [['#', schema]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [path, node] = next;
    if (!isSchemaObject(node)) continue;
    yield [path, node];
    waiting.push(...within(path, node).reverse());
  }
}

/** @param {unknown} value @returns {value is Schema} */
export function isSchemaObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {string} path @param {Schema} node @returns {[string, unknown][]} */
function within(path, node) {
  /** @type {[string, unknown][]} */
  const inner = KEYWORDS.one_schema.filter((name) => name in node).map((name) => [`${path}/${name}`, node[name]]);
  for (const name of KEYWORDS.schemas_in_list) {
    if (Array.isArray(node[name])) node[name].forEach((part, at) => inner.push([`${path}/${name}/${at}`, part]));
  }
  for (const name of KEYWORDS.schemas_by_name) {
    if (!isSchemaObject(node[name])) continue;
    for (const [key, part] of Object.entries(node[name])) inner.push([`${path}/${name}/${escaped(key)}`, part]);
  }
  return inner;
}

/** @param {string} key within a JSON pointer */
function escaped(key) {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
