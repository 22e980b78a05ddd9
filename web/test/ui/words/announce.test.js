import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Announcer } from '../../../src/ui/words/announce.js';

function harness() {
  /** @type {string[]} */
  const said = [];
  return { said, announcer: new Announcer((text) => said.push(text)) };
}

test('a growing reply is told in whole sentences', () => {
  const { said, announcer } = harness();
  announcer.grow('It is', 0);
  announcer.grow('It is a split. The dev', 100);
  announcer.grow('It is a split. The device holds its ends. It al', 5000);
  announcer.finish('It is a split. The device holds its ends. It also picks.');
  assert.deepEqual(said, ['It is a split.', 'The device holds its ends.', 'It also picks.']);
});

test('nothing is told more often than every few seconds', () => {
  const { said, announcer } = harness();
  let text = '';
  for (let step = 0; step < 50; step += 1) {
    text += 'A sentence. ';
    announcer.grow(text, step * 100);
  }
  assert.ok(said.length >= 1 && said.length <= 2, `${said.length}`);
  announcer.finish(text);
  assert.equal(said.join(' '), text.trim());
});

test('the same words are told again of the next reply', () => {
  const { said, announcer } = harness();
  for (let reply = 0; reply < 2; reply += 1) {
    announcer.begin();
    announcer.finish('Yes.');
  }
  assert.deepEqual(said, ['', 'Yes.', '', 'Yes.']);
});

test('the end says the rest and how it ended, and the next reply begins anew', () => {
  const { said, announcer } = harness();
  announcer.grow('One. Tw', 0);
  announcer.finish('One. Two', 'Stopped by you.');
  announcer.grow('Another one. ', 10);
  assert.deepEqual(said, ['One.', 'Two Stopped by you.', 'Another one.']);
});

test('what is there of a reply that goes on is not read again', () => {
  /** @type {string[]} */
  const said = [];
  const announcer = new Announcer((text) => said.push(text));
  announcer.begin(11);
  announcer.grow('One. Two. 3 Three. ', 0);
  announcer.finish('One. Two. 3 Three. Four');
  assert.deepEqual(said.filter(Boolean), ['Three.', 'Four']);
});
