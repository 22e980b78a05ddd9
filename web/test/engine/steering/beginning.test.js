import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternativesAt, replyTokens } from '../../../src/engine/steering/alternatives.js';
import { Answers } from '../../../src/engine/steering/answers.js';
import { beginningOf, begunOf, tell } from '../../../src/engine/steering/beginning.js';

const EOS = 9;
const TEXTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', ''];

/** Letters for ids; the logit of a token is that of the state. @type {any} */
const model = {
  manifest: { eosTokenIds: [EOS] },
  tokenizer: {
    decode: (/** @type {number[]} */ ids, skip = true) => ids.map((id) => (id === EOS && !skip ? '<end>' : TEXTS[id])).join(''),
    stream: () => ({ push: (/** @type {number} */ id) => TEXTS[id], flush: () => '' }),
    control: (/** @type {number} */ id) => (id === EOS ? '<end>' : null),
  },
  ends: {
    head: {
      rows: 10,
      topAndRest: async () => null,
      logits: async (/** @type {Float32Array} */ hidden) => hidden,
      top: async (/** @type {Float32Array} */ hidden, /** @type {number} */ k) => {
        const ids = Int32Array.from(hidden.keys()).sort((a, b) => hidden[b] - hidden[a] || a - b).slice(0, k);
        return { ids, logits: Float32Array.from(ids, (id) => hidden[id]) };
      },
    },
  },
};

/** @type {any} */
const chat = {
  prompt: async (/** @type {any} */ _messages, /** @type {any} */ _mode, /** @type {number[] | null} */ known) => known ?? [1, 1],
  following: (/** @type {number[]} */ _ids, /** @type {string} */ text) => [...text].map((letter) => TEXTS.indexOf(letter)),
};

const messages = [{ role: /** @type {const} */ ('user'), content: 'hi' }];
const state = (/** @type {number} */ likely) => Float32Array.from({ length: 10 }, (_, id) => (id === likely ? 4 : -id));

/** A reply "cab" that has ended. */
function answered() {
  const answers = new Answers();
  const log = answers.begin(/** @type {any} */ ({ answer: 'r', chat: 'c', messages }), [5, 6], []);
  for (const token of [2, 0, 1, EOS]) log.take(token, state(token));
  return answers;
}

/** @param {Answers} answers @param {any} begun */
const begins = (answers, begun) => beginningOf(chat, model, answers, /** @type {any} */ ({ messages, begun }));
/** @param {{token: number}[]} kept */
const ids = (kept) => kept.map(({ token }) => token);

test('a reply goes on from its own tokens, without the one that ends it', async () => {
  const { prompt, kept, after } = await begins(answered(), { answer: 'r', text: 'cab' });
  assert.deepEqual([prompt, ids(kept), after], [[5, 6], [2, 0, 1], []]);
  assert.ok(kept.every((each) => each.state !== null));
  assert.deepEqual(begunOf(model, kept), { ids: [2, 0, 1], text: 'cab' });
  assert.deepEqual(begunOf(model, []), { ids: [], text: '' });
});

test('a reply whose text was changed, or whose tokens nobody has, is spelled', async () => {
  const changed = await begins(answered(), { answer: 'r', text: 'cat'.replace('t', 'd') });
  assert.deepEqual([changed.prompt, ids(changed.kept)], [[5, 6], [2, 0, 3]]);
  const loaded = await begins(new Answers(), { answer: 'r', text: 'cab' });
  assert.deepEqual([loaded.prompt, ids(loaded.kept), loaded.kept[0].state], [[1, 1], [2, 0, 1], null]);
  await assert.rejects(begins(new Answers(), { answer: null, text: '' }), { code: 'nothing_to_continue' });
});

test('a branch has the tokens before its place, the chosen one, and what followed it to draft by', async () => {
  const { prompt, kept, after } = await begins(answered(), { answer: 'r', text: 'cab', at: 1, token: 7 });
  assert.deepEqual([prompt, ids(kept), after], [[5, 6], [2, 7], [1, EOS]]);
  assert.deepEqual(kept[1].state, state(0));
});

test('no branch goes on from what is not there', async () => {
  for (const [at, token] of [[4, 0], [-1, 0], [0.5, 0], [0, 10], [0, -1], [0, NaN]]) {
    await assert.rejects(begins(answered(), { answer: 'r', text: 'cab', at, token }), { code: 'branch_invalid' });
  }
  await assert.rejects(begins(new Answers(), { answer: 'r', text: 'cab', at: 0, token: 1 }), { code: 'nothing_to_continue' });
});

test('a form accepts what it permits, and says where it does not', async () => {
  /** @type {number[]} */
  const accepted = [];
  const form = /** @type {any} */ ({
    permitted: async (/** @type {number[]} */ tokens) => (tokens.includes(8) ? tokens.indexOf(8) : tokens.length),
    accept: async (/** @type {number} */ token) => void accepted.push(token),
  });
  await tell(form, [1, 2]);
  assert.deepEqual(accepted, [1, 2]);
  await assert.rejects(tell(form, [1, 8]), { code: 'branch_invalid', message: /does not permit token 2/ });
  await tell(null, [8]);
  await tell(form, []);
});

test('what else could have come is told by the state that a token was chosen from', async () => {
  const one = /** @type {any} */ (answered().named('r'));
  const { tokens, count } = await replyTokens(model, one, 0);
  assert.equal(count, 4);
  assert.deepEqual(tokens.map(({ id, text, control }) => [id, text, control]),
    [[2, 'c', false], [0, 'a', false], [1, 'b', false], [EOS, '<end>', true]]);
  const weights = [...state(2)].map(Math.exp);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  assert.ok(Math.abs(/** @type {number} */ (tokens[0].logprob) - Math.log(weights[2] / total)) < 1e-6);
  const found = /** @type {any[]} */ (await alternativesAt(model, one, 0));
  assert.deepEqual(found.map(([id]) => id), [2, 0, 1, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual([found[0][1], found[9][1]], ['c', '<end>']);
  assert.equal((await replyTokens(model, one, 3)).tokens.length, 1);
});

test('of a token whose state is given up only the token is told', async () => {
  const one = /** @type {any} */ (answered().named('r'));
  one.log.shrink(0);
  assert.deepEqual((await replyTokens(model, one, 0)).tokens.map(({ logprob }) => logprob), [null, null, null, null]);
  assert.equal(await alternativesAt(model, one, 0), null);
  assert.equal(await alternativesAt(model, one, 99), null);
});
