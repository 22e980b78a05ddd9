import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportChat, importChat } from '../../src/chats/documents.js';
import { readUnsaved, recovered } from '../../src/chats/recovered.js';
import { begunRedaction } from '../../src/chats/redaction/begun.js';
import { redactionAs } from '../../src/chats/redaction/chosen.js';
import { withEntries } from '../../src/chats/redaction/learnt.js';
import { copyOf } from '../../src/chats/about.js';
import { continued, kept, newChat, reply, say, turns } from '../../src/chats/tree.js';
import { unsavedOf } from '../../src/chats/unsaved.js';
import { drop } from '../../src/chats/context/changes.js';

/** @typedef {import('../../src/chats/types').Chat} Chat */

const CHOICE = { on: true, groups: ['names', 'phones'], names: ['Anna Schmidt'], regions: ['DE'] };
const ENTRY = { kind: 'given', key: 'anna', value: 'Anna', surrogate: 'Erika', rule: '' };

/** A chat whose reply the model wrote with a surrogate. @returns {Chat} */
function redacted() {
  const redaction = withEntries(begunRedaction(CHOICE) ?? assert.fail(), [ENTRY]);
  const chat = { ...newChat({ id: 'a', now: 1 }), redaction };
  return reply(say(chat, 'Hi Anna', 2), 'Hello Anna', { reason: 'eos', sent: 'Hello Erika' }, 3);
}

test('what the model wrote goes along with what is shown of it, and not with a part of that', () => {
  const chat = redacted();
  assert.deepEqual(turns(chat), [{ role: 'user', content: 'Hi Anna' }, { role: 'assistant', content: 'Hello Anna', sent: 'Hello Erika' }]);
  const asked = say(chat, 'And?', 4);
  const less = drop(asked, [['m2', [[0, 6]]]]);
  assert.deepEqual(turns(less)[1], { role: 'assistant', content: 'Anna' });
  assert.deepEqual(kept(less)[1], { role: 'assistant', content: 'Hello Anna', sent: 'Hello Erika', dropped: [[0, 6]] });
});

test('a reply that grows has what the model wrote by then, and none where nobody says so', () => {
  const chat = redacted();
  assert.equal(continued(chat, 'm2', 'Hello Anna!', { sent: 'Hello Erika!' }).nodes.m2.sent, 'Hello Erika!');
  assert.equal('sent' in continued(chat, 'm2', 'Hello Anna!').nodes.m2, false);
});

test('switched on in the middle, a chat remembers how much of it has gone out', () => {
  const chat = reply(say(newChat({ now: 1 }), 'Hi', 2), 'Hello', {}, 3);
  const on = redactionAs(chat, CHOICE);
  assert.equal(on?.before, 2);
  const longer = say({ ...chat, redaction: on }, 'More', 4);
  assert.equal(redactionAs(longer, { ...CHOICE, names: [] })?.before, 2);
  const off = redactionAs(longer, { ...CHOICE, on: false });
  assert.equal(off?.secret, on?.secret);
  assert.equal(redactionAs({ ...longer, redaction: off }, CHOICE)?.before, 3);
  assert.equal(redactionAs(chat, { ...CHOICE, on: false }), null);
});

test('each chat has a secret of its own, and a copy has the map of its original', () => {
  const [one, other] = [begunRedaction(CHOICE), begunRedaction(CHOICE)];
  assert.match(one?.secret ?? '', /^[0-9a-f]{64}$/);
  assert.notEqual(one?.secret, other?.secret);
  assert.deepEqual(copyOf(redacted()).redaction?.entries, [ENTRY]);
});

test('a document has the map as the terminal writes it, and its messages as they are shown', () => {
  const document = JSON.parse(exportChat(redacted()));
  const { secret, ...about } = document.redaction;
  assert.match(secret, /^[0-9a-f]{64}$/);
  assert.deepEqual(about, {
    version: 1, on: true, kinds: ['names', 'phones'], regions: ['DE'], names: ['Anna Schmidt'],
    entries: [['given', 'anna', 'Anna', 'Erika', '']], replies: [['Hello Anna', 'Hello Erika']],
  });
  assert.deepEqual(document.messages.map((/** @type {any} */ { content }) => content), ['Hi Anna', 'Hello Anna']);
  assert.ok(!JSON.stringify([document.messages, document.tree]).includes('Erika'));
  assert.equal('redaction' in JSON.parse(exportChat(newChat())), false);
});

test('a chat from a file has its choice, and neither the map nor the secret of whoever wrote the file', () => {
  const hostile = JSON.parse(exportChat(redacted()));
  hostile.redaction.entries = [['given', 'anna', 'Anna', 'Anna', '']];
  hostile.tree.nodes[1].sent = 'Hello Anna, send this';
  const { redaction, nodes } = importChat(JSON.stringify(hostile), { id: 'b' });
  assert.deepEqual({ ...redaction, secret: '' }, { ...CHOICE, secret: '', entries: [], before: 0 });
  assert.notEqual(redaction?.secret, hostile.redaction.secret);
  assert.equal('sent' in nodes.m2, false);
});

for (const [what, change] of /** @type {[string, any][]} */ ([
  ['no object', 'yes'], ['another version', { version: 2 }], ['no switch', { on: 'on' }], ['a kind that is unknown', { kinds: ['x'] }],
  ['names that are none', { names: [1] }], ['a country that is none', { regions: ['Germany'] }],
])) {
  test(`a file whose redaction has ${what} is refused, as without it the chat would go out as it is`, () => {
    const document = JSON.parse(exportChat(redacted()));
    document.redaction = typeof change === 'string' ? change : { ...document.redaction, ...change };
    assert.throws(() => importChat(JSON.stringify(document)), { code: 'conversation_file_invalid', message: /redaction/ });
  });
}

test('what a page left behind has its redaction, or is not taken', () => {
  const saved = redacted();
  const longer = say(saved, 'More', 4);
  const left = JSON.parse(JSON.stringify(unsavedOf(saved, longer)));
  assert.deepEqual(recovered(saved, readUnsaved(left) ?? assert.fail())?.redaction, saved.redaction);
  for (const broken of [{ secret: 'x' }, { entries: [1] }, { on: 1 }, { before: 'all' }]) {
    const other = structuredClone(left);
    Object.assign(other.about.redaction, broken);
    assert.equal(readUnsaved(other), null, JSON.stringify(broken));
  }
});
