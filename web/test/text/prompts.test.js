import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PromptMemory } from '../../src/text/prompts.js';
import { ModelTokenizer } from '../../src/text/tokenizer/tokenizer.js';

const FILE = new URL('../../../server/split_server/embedded/tokenizer.json', import.meta.url);
const TOKENIZER = ModelTokenizer.open(readFileSync(FILE, 'utf8'), 4096);
const END = TOKENIZER.encode('<|im_end|>');

/** The template in JavaScript; trims what some templates trim. */
function memory({ trim = false } = {}) {
  const render = async (/** @type {any[]} */ messages) => {
    const shown = messages.map(
      ({ role, content }) => `<|im_start|>${role}\n${trim ? content.trim() : content}<|im_end|>\n`,
    );
    return `${shown.join('')}<|im_start|>assistant\n`;
  };
  return { prompts: new PromptMemory({ render }, TOKENIZER), render };
}

/** Ids that encoding would not give: character by character. @param {string} text */
function spelled(text) {
  return [...text].flatMap((character) => TOKENIZER.encode(character));
}

/** @param {string} content @returns {any} */
const user = (content) => ({ role: 'user', content });
/** @param {string} content @returns {any} */
const assistant = (content) => ({ role: 'assistant', content });

test('the first prompt is the encoded text', async () => {
  const { prompts, render } = memory();
  const messages = [{ role: 'system', content: 'Be brief.' }, user('Hello')];
  assert.deepEqual(
    await prompts.prompt(/** @type {any} */ (messages)),
    TOKENIZER.encode(await render(messages)),
  );
});

test('a later prompt continues the ids as they were generated', async () => {
  const { prompts, render } = memory();
  const reply = spelled('split inference');
  assert.notDeepEqual(reply, TOKENIZER.encode('split inference'));
  const first = await prompts.prompt([user('Hello')]);
  prompts.remember(first, 'split inference', [...reply, ...END]);
  const messages = [user('Hello'), assistant('split inference'), user('And?')];
  const second = await prompts.prompt(messages);
  const known = [...first, ...reply, ...END];
  assert.deepEqual(second.slice(0, known.length), known);
  assert.equal(TOKENIZER.decode(second, false), await render(messages));
});

test('a reply without its end token is continued too', async () => {
  const { prompts, render } = memory();
  const reply = spelled('cut off');
  const first = await prompts.prompt([user('Hello')]);
  prompts.remember(first, 'cut off', reply);
  const messages = [user('Hello'), assistant('cut off'), user('Go on')];
  const second = await prompts.prompt(messages);
  assert.deepEqual(second.slice(0, first.length + reply.length), [...first, ...reply]);
  assert.equal(TOKENIZER.decode(second, false), await render(messages));
});

test('a reply that ended with another token keeps the ids before it', async () => {
  const { prompts, render } = memory();
  const reply = spelled('fine');
  const first = await prompts.prompt([user('Hello')]);
  prompts.remember(first, 'fine', [...reply, ...TOKENIZER.encode('<|endoftext|>')]);
  const messages = [user('Hello'), assistant('fine'), user('And?')];
  const second = await prompts.prompt(messages);
  assert.deepEqual(second.slice(0, first.length + reply.length), [...first, ...reply]);
  assert.equal(TOKENIZER.decode(second, false), await render(messages));
});

test('a text that the template changed is encoded again', async () => {
  const { prompts, render } = memory({ trim: true });
  const first = await prompts.prompt([user('Hello')]);
  prompts.remember(first, 'fine \n', [...TOKENIZER.encode('fine \n'), ...END]);
  const messages = [user('Hello'), assistant('fine \n'), user('And?')];
  assert.deepEqual(await prompts.prompt(messages), TOKENIZER.encode(await render(messages)));
});

test('every branch continues its own ids, whichever was generated last', async () => {
  const { prompts } = memory();
  const question = await prompts.prompt([user('One')]);
  const replies = ['first', 'other'].map((text) => [...spelled(text), ...END]);
  for (const reply of replies) prompts.remember(question, TOKENIZER.decode(reply), reply);
  for (const [index, text] of ['first', 'other'].entries()) {
    const ids = await prompts.prompt([user('One'), assistant(text), user('Two')]);
    const known = [...question, ...replies[index]];
    assert.deepEqual(ids.slice(0, known.length), known);
  }
  assert.deepEqual(await prompts.prompt([user('One')]), question);
});

test('the longest known beginning counts, not the latest', async () => {
  const { prompts } = memory();
  const chat = [user('One'), assistant('first'), user('Two'), assistant('second')];
  const question = await prompts.prompt(chat.slice(0, 1));
  prompts.remember(question, 'first', [...spelled('first'), ...END]);
  const second = await prompts.prompt(chat.slice(0, 3));
  prompts.remember(second, 'second', [...spelled('second'), ...END]);
  prompts.remember(question, 'first', [...spelled('first'), ...END]);
  const ids = await prompts.prompt([...chat, user('Three')]);
  const known = [...second, ...spelled('second'), ...END];
  assert.deepEqual(ids.slice(0, known.length), known);
});

test('what nobody asked for is not remembered, and turns are bounded', async () => {
  const { prompts } = memory();
  prompts.remember([1, 2, 3], 'x', [4]);
  assert.equal(prompts.known.length, 0);
  const ids = await prompts.prompt([user('One')]);
  for (let turn = 0; turn < 50; turn += 1) prompts.remember(ids, 'x', [turn]);
  assert.equal(prompts.known.length, 16);
});

test('a prompt ends with the user', async () => {
  const { prompts } = memory();
  await assert.rejects(prompts.prompt([]), { code: 'prompt_empty' });
  await assert.rejects(prompts.prompt([user('One'), assistant('x')]), { code: 'prompt_empty' });
  const empty = new PromptMemory({ render: async () => '' }, TOKENIZER);
  await assert.rejects(empty.prompt([user('One')]), { code: 'prompt_empty' });
});
