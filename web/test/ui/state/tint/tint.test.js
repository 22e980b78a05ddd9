import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChat, reply, say } from '../../../../src/chats/tree.js';
import { AppError } from '../../../../src/common/errors.js';
import { Tint } from '../../../../src/ui/state/tint/tint.js';

const CHAT = reply(say(reply(say(newChat(), 'One'), 'Two'), 'Three'), 'Four');
// One token a message, one of the template before each.
const TOKENS = {
  positions: 8, start: Int32Array.of(1, 3, 5, 7), stop: Int32Array.of(2, 4, 6, 8), message: Int32Array.of(0, 1, 2, 3),
  at: new Int32Array(4), length: Int32Array.of(3, 3, 5, 4),
};
const ROW = Float32Array.of(0.5, 0.125, 0, 0.25, 0, 0.125, 0);

/** @param {any} [engine] @param {string | null} [kept] */
function tintOf(engine = {}, kept = 'm4') {
  const whole = {
    chatTokens: async () => TOKENS, looked: async () => ROW, farBack: async () => null,
    headsCost: async () => ({ up: 1, down: 2 }), ...engine,
  };
  return new Tint({ engine: () => whole, of: () => whole, hasTemplate: () => true, cache: () => 'exact', kept: () => kept });
}

test('a token of the latest reply tells at once what it looked at, with what its heads would cost', async () => {
  const tint = tintOf();
  await tint.show(CHAT);
  await tint.move(-1);
  const looked = tint.looked.value;
  assert.deepEqual([looked?.piece, looked?.places.map(({ text }) => text)], [3, ['Two', 'One', 'Three']]);
  assert.deepEqual(looked?.cost, { up: 1, down: 2 });
  await tint.move(-1);
  assert.deepEqual([tint.looked.value?.piece, tint.looked.value?.shares], [1, null]);
});

test('rows of another branch are not taken for those of this one', async () => {
  const tint = tintOf({}, 'm9');
  await tint.show(CHAT);
  await tint.choose(3);
  assert.equal(tint.looked.value?.shares, null);
});

test('what is not a reply\'s token cannot be chosen', async () => {
  const tint = tintOf();
  await tint.show(CHAT);
  await tint.choose(2);
  assert.equal(tint.looked.value, null);
});

test('all heads are fetched once, and one of them can be seen alone', async () => {
  const weights = new Float32Array(14);
  weights[1] = 1;
  weights[7 + 5] = 1;
  /** @type {any[]} */
  const asked = [];
  const tint = tintOf({ looked: async () => null, heads: async (/** @type {any} */ wish) => {
    asked.push(wish);
    return { layers: 1, heads: 2, weights, sent: 1 };
  } });
  await tint.show(CHAT);
  await tint.choose(3);
  await Promise.all([tint.fetchHeads(), tint.fetchHeads()]);
  assert.deepEqual(asked.map(({ position, noised, cache }) => [position, noised, cache]), [[7, false, 'exact']]);
  assert.deepEqual(tint.looked.value?.places.map(({ text }) => text), ['One', 'Three']);
  tint.showAlone({ layer: 0, head: 1 });
  assert.deepEqual(tint.looked.value?.places.map(({ text }) => text), ['Three']);
});

test('a failure is told, and nothing is asked for ever', async () => {
  const tint = tintOf({ looked: async () => null, headsCost: async () => {
    throw new AppError('unsupported', 'attention is not supported by this server');
  } });
  await tint.show(CHAT);
  await tint.choose(3);
  assert.deepEqual([tint.looked.value?.asking, tint.problem.value], [undefined, 'attention is not supported by this server']);
});

test('of several chats the latest counts', async () => {
  /** @type {((tokens: any) => void)[]} */
  const answers = [];
  const tint = tintOf({ chatTokens: () => new Promise((resolve) => answers.push(resolve)) });
  const shows = [tint.show(CHAT), tint.show(newChat({ id: 'b' })), tint.show(say(newChat({ id: 'c' }), 'One'))];
  answers[1]({ ...TOKENS, start: Int32Array.of(1), stop: Int32Array.of(2), message: Int32Array.of(0) });
  answers[0](TOKENS);
  await Promise.all(shows);
  assert.equal(tint.chat.value?.chat.id, 'c');
});
