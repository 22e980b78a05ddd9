import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Answers } from '../../../src/engine/steering/answers.js';

/** @param {string} answer @param {object} [about] @returns {any} */
const request = (answer, about = {}) => ({ answer, chat: 'c', messages: [{ role: 'user', content: 'hi' }], ...about });

/** A reply of so many tokens with states of 8 bytes each. @param {Answers} answers @param {string} name @param {number} count */
function made(answers, name, count, about = {}) {
  const log = answers.begin(request(name, about), [1, 2], []);
  for (let token = 0; token < count; token += 1) log.take(token, Float32Array.of(token, 1));
}

/** @param {Answers} answers @param {string} name */
const known = (answers, name) => answers.named(name)?.log.kept.map(({ state }) => (state ? 1 : 0));

test('states are given up oldest first, of the oldest reply first, and tokens are kept', () => {
  const answers = new Answers(40);
  made(answers, 'a', 3);
  assert.deepEqual(known(answers, 'a'), [1, 1, 1]);
  made(answers, 'b', 4);
  assert.deepEqual([known(answers, 'a'), known(answers, 'b')], [[0, 0, 1], [1, 1, 1, 1]]);
  made(answers, 'c', 6);
  assert.deepEqual([known(answers, 'a'), known(answers, 'b'), known(answers, 'c')],
    [[0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1, 1, 1]]);
  assert.deepEqual(answers.named('a')?.log.kept.map(({ token }) => token), [0, 1, 2]);
});

test('a state is its own, and what has none takes no room', () => {
  const answers = new Answers();
  const step = Float32Array.of(1, 2, 3, 4);
  const log = answers.begin(request('a'), [1], [{ token: 7, state: null }]);
  log.take(8, step.subarray(2));
  step.fill(0);
  const kept = answers.named('a')?.log.kept ?? [];
  assert.deepEqual(kept, [{ token: 7, state: null }, { token: 8, state: Float32Array.of(3, 4) }]);
  assert.equal(kept[1].state?.buffer.byteLength, 8);
});

test('a reply is found for the messages that it answered, and for no others', () => {
  const answers = new Answers();
  made(answers, 'a', 1, { mode: 'chat' });
  assert.equal(answers.to('a', request('x'))?.name, 'a');
  assert.equal(answers.to('a', request('x', { mode: 'plain' })), null);
  assert.equal(answers.to('a', request('x', { messages: [{ role: 'user', content: 'hi!' }] })), null);
  assert.equal(answers.to(null, request('x')), null);
  assert.equal(answers.to('b', request('x')), null);
});

test('the newest 32 are kept, none of a chat that is gone, and none without a name', () => {
  const answers = new Answers();
  for (let i = 0; i < 40; i += 1) made(answers, `a${i}`, 1, { chat: i % 2 ? 'odd' : 'even' });
  assert.deepEqual([known(answers, 'a7'), known(answers, 'a8')], [undefined, [1]]);
  answers.forget('odd');
  assert.deepEqual([known(answers, 'a39'), known(answers, 'a38')], [undefined, [1]]);
  answers.clear();
  assert.equal(answers.named('a38'), null);
  answers.begin({ ...request('x'), answer: undefined }, [1], []).take(1, null);
  assert.equal(answers.named('x'), null);
});
