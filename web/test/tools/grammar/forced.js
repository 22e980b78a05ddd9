// Which share of the tokens of given texts is forced by their schema, with the embedded model's tokenizer:
//   node test/tools/grammar/forced.js
// Where there is a choice the reply takes the token with which the tokenizer goes on. One JSON object a line.
import { languageOf } from '../../../src/grammar/form.js';
import { FormFollower } from '../../../src/grammar/reply.js';
import { written } from '../../../src/grammar/schema/written.js';
import { embedded } from '../../grammar/vocabulary.js';

const text = { type: 'string' };
const closed = (/** @type {Record<string, object>} */ properties) =>
  ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const RECORD = closed({ name: text, department: text, age: { type: 'integer' }, active: { type: 'boolean' } });
const CASES = {
  'record list': {
    schema: { type: 'array', items: RECORD, minItems: 8, maxItems: 8 },
    value: Array.from({ length: 8 }, (_, at) => ({ name: `Ada ${at}`, department: 'research', age: 30 + at, active: at % 2 === 0 })),
  },
  'tool call': {
    schema: closed({ name: { const: 'get_weather' }, arguments: closed({ city: text, unit: { enum: ['celsius', 'fahrenheit'] } }) }),
    value: { name: 'get_weather', arguments: { city: 'Zurich', unit: 'celsius' } },
  },
};
const vocabulary = embedded();

/** @param {object} schema @param {unknown} value */
async function shareOf(schema, value) {
  const follower = new FormFollower(vocabulary.tree, languageOf({ kind: 'json_schema', text: JSON.stringify(schema) }), vocabulary);
  let [left, of, forced, tokens, trips] = [written(value), follower.start, 0, 0, 0];
  while (left) {
    const sure = await follower.forced(of, 1000);
    const ids = sure.length ? sure : vocabulary.tokenizer.encode(left).slice(0, 1);
    if (sure.length) forced += sure.length;
    else trips += 1;
    tokens += ids.length;
    left = left.slice(vocabulary.tokenizer.decode(ids).length);
    for (const id of ids) of = follower.after(of, id);
  }
  return { tokens, plain: vocabulary.tokenizer.encode(written(value)).length, forced: forced / tokens, tokensPerTrip: tokens / trips };
}

for (const [name, { schema, value }] of Object.entries(CASES)) {
  console.log(JSON.stringify({ name, ...(await shareOf(schema, value)) }));
}
