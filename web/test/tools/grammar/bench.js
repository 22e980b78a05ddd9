// What forms cost in this engine:  node test/tools/grammar/bench.js [ROWS ...]
//
// For each vocabulary of so many made-up tokens (49152 and 151936): milliseconds until it is taken in, and for each form
// to compile it, for the first mask, and for the masks of replies of random tokens; the share of tokens that are forced;
// then bytes of code. One JSON object a line.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { languageOf } from '../../../src/grammar/form.js';
import { FormFollower } from '../../../src/grammar/reply.js';
import { TokenTree } from '../../../src/grammar/tokens/trie.js';
import { randomNumbers } from '../../generation/random.js';
import { FORMS } from '../../grammar/forms.js';
import { madeUp } from './vocabulary.js';

const CODE = new URL('../../../../server/split_server/web_app/app/grammar.js', import.meta.url);
const TOKENS = 400;
const rows = process.argv.slice(2).map(Number);

/** @template T @param {() => T | Promise<T>} work @returns {Promise<[number, T]>} milliseconds */
async function timed(work) {
  const began = performance.now();
  const result = await work();
  return [performance.now() - began, result];
}

/** @param {FormFollower} follower */
async function replies(follower) {
  const next = randomNumbers(2);
  const took = [];
  let forced = 0;
  let of = follower.start;
  for (let count = 0; count < TOKENS; count++) {
    if (follower.isFinished(of)) of = follower.start;
    const [time, mask] = await timed(() => follower.allowed(of, 1000));
    took.push(time);
    const allowed = [];
    for (let id = mask.indexOf(1); id >= 0; id = mask.indexOf(1, id + 1)) allowed.push(id);
    if (allowed.length === 1) forced += 1;
    of = follower.after(of, allowed[Math.floor(next() * allowed.length)]);
  }
  const sorted = [...took].sort((a, b) => a - b);
  return { first: took[0], median: sorted[TOKENS >> 1], p99: sorted[Math.floor(TOKENS * 0.99)], worst: sorted[TOKENS - 1], forced: forced / TOKENS };
}

const rounded = (/** @type {Record<string, number>} */ times) =>
  Object.fromEntries(Object.entries(times).map(([name, time]) => [name, Number(time.toFixed(2))]));

for (const size of rows.length ? rows : [49152, 151936]) {
  const tokens = madeUp(size);
  const [taken, tree] = await timed(() => new TokenTree(tokens));
  console.log(JSON.stringify({ rows: size, ...rounded({ taken }) }));
  for (const [form, asked] of Object.entries(FORMS)) {
    const [compiled, language] = await timed(() => languageOf(asked));
    const follower = new FormFollower(tree, language, { eos: tokens.eos, encode: async () => null });
    console.log(JSON.stringify({ form, ...rounded({ compiled, ...(await replies(follower)) }) }));
  }
}
const code = readFileSync(CODE);
console.log(JSON.stringify({ code: code.length, gzip: gzipSync(code).length }));
