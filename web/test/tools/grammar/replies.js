// Random replies under schemas, for a test in another language. JSON on stdin: {schemas, tokens}; on stdout, for each
// schema, {text, whole}, or {refused: {code, message}}. Tokens are the embedded model's; `tokens`: the most of a reply.
import { readFileSync } from 'node:fs';
import { describeError } from '../../../src/common/errors.js';
import { languageOf } from '../../../src/grammar/form.js';
import { FormFollower } from '../../../src/grammar/reply.js';
import { randomNumbers } from '../../generation/random.js';
import { embedded } from '../../grammar/vocabulary.js';

const vocabulary = embedded();

/** @param {object} schema @param {number} most @param {number} seed */
async function reply(schema, most, seed) {
  const follower = new FormFollower(vocabulary.tree, languageOf({ kind: 'json_schema', text: JSON.stringify(schema) }), vocabulary);
  const next = randomNumbers(seed);
  let of = follower.start;
  /** @type {number[]} */
  const tokens = [];
  while (tokens.length < most && !follower.isFinished(of)) {
    const mask = await follower.allowed(of, most - tokens.length);
    const allowed = [...mask.keys()].filter((id) => mask[id]);
    const token = allowed[Math.floor(next() * allowed.length)];
    of = follower.after(of, token);
    if (!vocabulary.eos.includes(token)) tokens.push(token);
  }
  return { text: vocabulary.tokenizer.decode(tokens), whole: of.nullable };
}

const { schemas, tokens } = JSON.parse(readFileSync(0, 'utf8'));
const replies = [];
for (const [seed, schema] of schemas.entries()) {
  replies.push(await reply(schema, tokens, seed).catch((error) => ({ refused: describeError(error) })));
}
process.stdout.write(JSON.stringify(replies));
