import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportChat, importChats } from '../../../src/chats/documents.js';
import { messages, path, selectSibling } from '../../../src/chats/tree.js';

const NOW = 1_800_000_000_000;

/** @param {string} role @param {unknown[]} parts @param {object} [about] */
const said = (role, parts, about = {}) =>
  ({ author: { role }, content: { content_type: 'text', parts }, create_time: 1_700_000_000.5, recipient: 'all', ...about });

const node = (/** @type {string} */ id, /** @type {string | null} */ parent, /** @type {string[]} */ children, /** @type {unknown} */ message = null) =>
  [id, { id, parent, children, message }];

function fromChatGpt(current = 'again') {
  const nodes = [
    node('root', null, ['system']),
    node('system', 'root', ['ask'], said('system', [''], { metadata: { is_visually_hidden_from_conversation: true } })),
    node('ask', 'system', ['reply', 'again'], said('user', ['What is a fern?', { asset_pointer: 'file-service://x' }])),
    node('reply', 'ask', ['call'], said('assistant', ['Let me look.'])),
    node('call', 'reply', ['tool'], { ...said('assistant', ['search()']), recipient: 'browser' }),
    node('tool', 'call', ['rest'], said('tool', ['<html>results</html>'])),
    node('rest', 'tool', [], said('assistant', ['A plant.'])),
    node('again', 'ask', [], said('assistant', ['<b>A plant</b> without flowers.'])),
  ];
  return { title: 'Ferns', create_time: 1_700_000_000, update_time: 1_700_000_100, current_node: current,
    default_model_slug: 'gpt-4o', mapping: Object.fromEntries(nodes) };
}

function fromOpenWebUi() {
  return { id: 'x', title: 'Mosses', pinned: true, created_at: 1_700_000_000, updated_at: 1_700_000_200, chat: {
    title: 'Mosses', models: ['llama3:8b'], system: 'Be brief.', history: { currentId: 'b', messages: {
      a: { id: 'a', parentId: null, childrenIds: ['b', 'c'], role: 'user', content: 'What is a moss?', timestamp: 1_700_000_000 },
      b: { id: 'b', parentId: 'a', childrenIds: [], role: 'assistant',
        content: '<details type="reasoning" done="true"><summary>Thought</summary>hm</details>\nA plant.' },
      c: { id: 'c', parentId: 'a', childrenIds: [], role: 'assistant', content: 'Green.' },
    } } } };
}

const imported = (/** @type {unknown} */ file) => importChats(JSON.stringify(file), { now: NOW });

test('a conversation of ChatGPT keeps its branches, its times and the one that was shown', () => {
  const [chat] = imported([fromChatGpt()]);
  assert.equal(chat.title, 'Ferns');
  assert.equal(chat.model, 'gpt-4o');
  assert.equal(chat.created, 1_700_000_000_000);
  assert.equal(chat.updated, 1_700_000_100_000);
  assert.deepEqual(messages(chat).map(({ content }) => content), ['What is a fern?', '<b>A plant</b> without flowers.']);
  const other = selectSibling(chat, path(chat)[1].id, -1);
  assert.deepEqual(path(other).map(({ role, content }) => [role, content]),
    [['user', 'What is a fern?'], ['assistant', 'Let me look.\n\nA plant.']]);
});

test('a message that leads on without a text is shown by what stands above it', () => {
  const [chat] = imported([fromChatGpt('tool')]);
  assert.equal(path(chat)[1].content, 'Let me look.\n\nA plant.');
});

test('a chat of Open WebUI keeps its branches, its system prompt and its pin', () => {
  const [chat] = imported([fromOpenWebUi()]);
  assert.equal(chat.system, 'Be brief.');
  assert.equal(chat.pinned, true);
  assert.deepEqual(path(chat).map(({ content }) => content), ['What is a moss?', 'A plant.']);
  assert.equal(path(selectSibling(chat, path(chat)[1].id, 1))[1].content, 'Green.');
});

test('several files of chats come in as they are, and can be exported and read again', () => {
  const chats = imported([fromChatGpt(), fromOpenWebUi()]);
  assert.equal(chats.length, 2);
  for (const chat of chats) {
    const [again] = importChats(exportChat(chat), { now: NOW });
    assert.deepEqual(messages(again), messages(chat));
    assert.equal(again.pinned, chat.pinned);
  }
});

test('one chat that cannot be read refuses the file', () => {
  assert.throws(() => imported([fromChatGpt(), { nothing: 1 }]), { code: 'conversation_file_invalid', message: /chat 1 has neither/ });
});

test('a file in which nothing is said is refused', () => {
  assert.throws(() => imported([{ ...fromChatGpt(), mapping: {} }]), { code: 'conversation_file_invalid' });
});

test('hostile values are read as nothing or refused', () => {
  const ask = said('user', ['Hello']);
  const mapping = (/** @type {[string, unknown][]} */ ...nodes) => [{ mapping: JSON.parse(`{${nodes.map(([id, value]) =>
    `${JSON.stringify(id)}: ${JSON.stringify(value)}`).join(', ')}}`) }];
  // A circle beside what is said, a child of two, children without end, numbers and lists where texts belong.
  const circle = mapping(['a', { parent: null, children: ['b', 'b', 'c'], message: ask }],
    ['b', { parent: 'a', children: [7, null, 'a'], message: said('assistant', [{ html: '<b>' }, 3, 'Yes']) }],
    ['x', { parent: 'y', children: ['y'], message: ask }], ['y', { parent: 'x', children: ['x'], message: ask }]);
  const [chat] = imported(circle);
  assert.deepEqual(messages(chat).map(({ content }) => content), ['Hello', 'Yes']);
  const [named] = imported(mapping(['__proto__', { parent: null, children: [], message: ask }]).map((each) =>
    ({ ...each, title: { toString: 'x' }, create_time: Number.MAX_VALUE, update_time: 'now', current_node: ['a'] })));
  assert.equal(named.title, 'Hello');
  assert.equal(named.created, NOW);
  assert.equal(/** @type {any} */ ({}).children, undefined);
  const half = imported(mapping(['a', { parent: null, children: [], message: said('user', ['\ud800']) }]));
  assert.equal(messages(half[0])[0].content, '\ufffd');
});

test('too many messages and too large chats are refused', () => {
  const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) =>
    [`n${index}`, { parentId: null, childrenIds: [], role: 'user', content: 'x' }]));
  assert.throws(() => imported([{ chat: { history: { messages: many } } }]), { code: 'conversation_file_invalid' });
  const large = { a: { parentId: null, childrenIds: [], role: 'user', content: 'x'.repeat(17 << 20) } };
  assert.throws(() => imported([{ chat: { history: { messages: large } } }]), { code: 'chat_too_large' });
});

test('reasoning that is opened a million times takes no time', () => {
  const begun = performance.now();
  const content = '<details type="reasoning"'.repeat(400_000);
  imported([{ chat: { history: { messages: { a: { parentId: null, childrenIds: [], role: 'assistant', content } } } } }]);
  assert.ok(performance.now() - begun < 4000);
});

test('a chat of twenty thousand messages takes time by its length, not by the square of it', () => {
  const line = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`n${index}`, { parentId: index ? `n${index - 1}` : null,
    childrenIds: index < 19_999 ? [`n${index + 1}`] : [], role: index % 2 ? 'assistant' : 'user', content: `x${index}` }]));
  const begun = performance.now();
  const [chat] = imported([{ chat: { history: { messages: line } } }]);
  assert.equal(path(chat).length, 20_000);
  assert.ok(performance.now() - begun < 8000);
});
