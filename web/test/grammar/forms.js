/** Forms of every kind for tests. @param {any} schema @returns {import('../../types/gatelink').Form} */
const schema = (schema) => ({ kind: 'json_schema', text: JSON.stringify(schema) });

const person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer', minimum: 0, maximum: 130 },
    tags: { type: 'array', items: { type: 'string', maxLength: 8 } },
  },
  required: ['name', 'age'],
  additionalProperties: false,
};

/** @type {Record<string, import('../../types/gatelink').Form>} */
export const FORMS = {
  person: schema(person),
  records: schema({ type: 'array', items: person, minItems: 2 }),
  'any object': { kind: 'json_object' },
  'a choice': { kind: 'choice', texts: ['yes', 'no', 'maybe so', 'über'] },
  'a regex': { kind: 'regex', text: '[A-Z][a-zü]+(, [0-9]{1,3})*' },
  'a string of a pattern and a length': schema({ type: 'string', pattern: 'ab*c', minLength: 5, maxLength: 20 }),
  'numbers within bounds': schema({
    type: 'array',
    items: { type: 'number', minimum: -2.5, exclusiveMaximum: 1000, multipleOf: 0.25 },
    maxItems: 5,
  }),
  formats: schema({
    type: 'object',
    properties: {
      at: { type: 'string', format: 'date-time' }, mail: { type: 'string', format: 'email' },
      id: { type: 'string', format: 'uuid' }, where: { type: 'string', format: 'ipv4' },
    },
    additionalProperties: false,
  }),
  'a tree': schema({
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: { value: { type: 'string' }, left: { $ref: '#/$defs/node' }, right: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['value', 'right'],
      },
    },
  }),
  'names by pattern': schema({
    type: 'object', properties: { id: { type: 'integer' } }, patternProperties: { '^x_': { type: 'boolean' } },
    additionalProperties: { type: 'null' },
  }),
};
