import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../../../../src/chats/tree.js';
import { AppError } from '../../../../src/common/errors.js';
import { changeRedaction } from '../../../../src/ui/state/redaction/change.js';
import { CHOICE, quiet, redactedPage } from './page.js';

const NAME = 'Anna Schmidt';
const PHONE = '+49 30 90123456';
const IBAN = 'DE89 3704 0044 0532 0130 00';
const SAID = `Write to ${NAME}, ${PHONE}, ${IBAN}.`;
const values = [NAME, 'Anna', 'Schmidt', '90123456', '0532 0130', '370400440532013000'];

/** Nothing of the values is in it. @param {unknown} told */
function clean(told) {
  const text = JSON.stringify(told);
  for (const value of values) assert.ok(!text.includes(value), `${value} in ${text}`);
}

const shown = (/** @type {any} */ chat) => path(chat).map(({ content }) => content);

test('the engine is told surrogates, the page keeps and shows what a person wrote', async () => {
  const { say, answer, chat } = await redactedPage();
  const asked = await say(SAID);
  clean(asked);
  const [sent] = asked.messages.map((/** @type {any} */ { content }) => content);
  assert.match(sent, /^Write to \p{L}+ \p{L}+, \+49 [\d ]+, DE\d\d [\d ]+\.$/u);
  assert.equal(chat().nodes.m1.content, SAID);
  const [, name, phone, iban] = /** @type {RegExpExecArray} */ (/to (.*), (\+.*), (DE.*)\./.exec(sent));
  await answer(`I wrote to ${name} (${phone}) about ${iban}. See [${name}](https://evil.example/?q=${name.split(' ')[0]}).`);
  const first = name.split(' ')[0];
  assert.deepEqual(shown(chat()), [SAID, `I wrote to ${NAME} (${PHONE}) about ${IBAN}. See [${NAME}](https://evil.example/?q=${first}).`]);
});

test('while a reply streams, no more of a surrogate is shown than the value that it stands for', async () => {
  const { app, say, answer, engine } = await redactedPage();
  const asked = await say(SAID);
  const name = /** @type {RegExpExecArray} */ (/to (.*?), /.exec(asked.messages[0].content))[1];
  /** @type {string[]} */
  const seen = [];
  const { onToken } = engine.last('reply').args[1];
  for (const letter of `Dear ${name}, hello`) {
    onToken({ text: letter });
    seen.push(app.replies.live.value?.text ?? '');
  }
  for (const text of seen) assert.ok(`Dear ${NAME}, hello`.startsWith(text), text);
  await answer('');
});

test('the next turn sends the reply as the model wrote it, and the map is saved with the chat', async () => {
  const { say, answer, chat, store } = await redactedPage();
  const name = /** @type {RegExpExecArray} */ (/to (.*?), /.exec((await say(SAID)).messages[0].content))[1];
  const wrote = `Done: ${name}. [x](http://a.example/${name.split(' ')[0]})`;
  await answer(wrote);
  const asked = await say(`Thank ${NAME} again`);
  clean(asked);
  assert.equal(asked.messages[1].content, wrote);
  assert.deepEqual(Object.keys(asked.messages[1]).sort(), ['content', 'role']);
  assert.equal(asked.messages[2].content, `Thank ${name} again`);
  await answer('Yes');
  const saved = await store.load(chat().id);
  assert.equal(saved.redaction?.entries.length, 4);
  assert.deepEqual(saved.redaction?.entries.map(({ value }) => value).slice(0, 2), ['Anna', 'Schmidt']);
  assert.equal(saved.nodes.m2.sent, wrote);
});

test('drafts of other chats, forms, stop texts and what a reply may be pass the map', async () => {
  const { app, say, answer } = await redactedPage({ redaction: CHOICE, draft_memory: 'server', stop: [`To ${NAME}`] });
  app.changeChat({ form: { kind: 'choice', text: `${NAME}\nnobody` } });
  const asked = await say(`Is it ${NAME}?`);
  clean(asked);
  assert.equal(asked.draftMemory, 'chat');
  assert.equal(asked.form.texts.length, 2);
  assert.equal(`Is it ${asked.form.texts[0]}?`, asked.messages[0].content);
  assert.equal(asked.stop[0], `To ${asked.form.texts[0]}`);
  await answer(asked.form.texts[0]);
  app.regenerate('m2', 'varied');
  await quiet();
  const again = app.replies.running.value;
  assert.ok(again);
});

test('texts of a schema pass the map, names of its fields stay', async () => {
  const { app, say } = await redactedPage();
  const schema = { type: 'object', description: `About ${NAME}`, properties: { Anna: { enum: [PHONE, 3] } } };
  app.changeChat({ form: { kind: 'json_schema', text: JSON.stringify(schema) } });
  const { form } = await say('Hello');
  const made = JSON.parse(form.text);
  assert.deepEqual(Object.keys(made.properties), ['Anna']);
  clean([made.description, made.properties.Anna.enum]);
  assert.equal(made.properties.Anna.enum[1], 3);
});

test('what is counted and proposed is what goes out, and comes back in places of what is shown', async () => {
  const { app, say, answer, engine, chat } = await redactedPage();
  await say(SAID);
  await answer('Fine.');
  app.draft.value = `And ${NAME}?`;
  app.meter.ask();
  await app.meter.count();
  clean(engine.counted);
  assert.equal(app.meter.typed.value, 3);
  void app.room.propose(chat()).catch(() => {});
  await quiet();
  clean(engine.last('propose').args);
  const [, messages] = engine.last('propose').args;
  const sent = messages[0].content;
  const start = sent.indexOf('+49');
  engine.last('propose').resolve({ dropped: [[0, [[start, start + 6]]]], units: 1, before: 9, tokens: 5, sent: 5, limit: 9, target: 7 });
});

test('tokens of a chat are told in places of what is shown', async () => {
  const { app, say, answer, engine, chat } = await redactedPage();
  const asked = await say(`Hi ${NAME}!`);
  const [first] = asked.messages[0].content.slice(3).split(' ');
  await answer(`Hello ${asked.messages[0].content.slice(3, -1)}.`);
  const messages = [{ role: 'user', content: `Hi ${NAME}!` }, { ...chat().nodes.m2 }];
  engine.chatTokens = async (/** @type {any} */ shown) => {
    clean(shown);
    const at = Int32Array.of(3, 3 + first.length, 6);
    const length = Int32Array.of(first.length, shown.messages[0].content.length - 3 - first.length, first.length);
    return { positions: 3, start: Int32Array.of(0, 1, 2), stop: Int32Array.of(1, 2, 3), message: Int32Array.of(0, 0, 1), at, length };
  };
  const tokens = await app.gate.of(chat()).chatTokens(/** @type {any} */ ({ chat: chat().id, messages }));
  assert.deepEqual([...tokens.at], [3, 7, 6]);
  assert.deepEqual([...tokens.length], [4, 9, 4]);
});

test('a reply that goes on goes on from what the model wrote', async () => {
  const { app, say, answer, asked, chat } = await redactedPage();
  const name = (await say(`Hi ${NAME}!`)).messages[0].content.slice(3, -1);
  await answer(`Dear ${name}`, { reason: 'length' });
  app.steering.continue('m2');
  await quiet();
  clean(asked());
  assert.equal(asked().begun.text, `Dear ${name}`);
  await answer(`Dear ${name}, your friend ${name}`);
  assert.equal(chat().nodes.m2.content, `Dear ${NAME}, your friend ${NAME}`);
  assert.equal(chat().nodes.m2.sent, `Dear ${name}, your friend ${name}`);
});

test('a reply in a person’s words goes out with surrogates', async () => {
  const { app, say, answer, asked } = await redactedPage();
  await say('Hi');
  await answer('Hello');
  app.steering.amend('m2', `It was ${NAME}.`, true);
  await quiet();
  clean(asked());
  await answer('It was somebody. Yes');
});

test('a reply that breaks off shows all that came of it', async () => {
  const { say, engine, chat } = await redactedPage();
  const name = (await say(`Hi ${NAME}!`)).messages[0].content.slice(3, -1);
  engine.last('reply').args[1].onToken({ text: `Dear ${name}` });
  engine.last('reply').reject(new AppError('connection_lost', 'it broke'));
  await quiet();
  assert.equal(chat().nodes.m2.content, `Dear ${NAME}`);
  assert.equal(chat().nodes.m2.sent, `Dear ${name}`);
});

test('a reply that is stopped before it was sent sends nothing', async () => {
  const { app, engine } = await redactedPage();
  app.send(SAID);
  app.replies.stop();
  await quiet();
  assert.equal(engine.last('reply'), undefined);
  assert.equal(app.replies.running.value, null);
});

test('switched on in the middle of a chat it says what has gone out, and the whole chat goes out anew', async () => {
  const { app, engine, say, answer, chat } = await redactedPage({});
  const plain = await say(SAID);
  assert.equal(plain.messages[0].content, SAID);
  await answer(`Hello ${NAME}`);
  changeRedaction(app, CHOICE);
  assert.deepEqual(engine.closedChats, [chat().id]);
  assert.equal(chat().redaction?.before, 2);
  const veils = await app.gate.veils();
  assert.deepEqual(await veils.wentOut(chat()), ['Anna', 'Schmidt', PHONE, IBAN]);
  clean(await say('And now?'));
  await answer('So.');
  changeRedaction(app, { ...CHOICE, on: false });
  const off = await say('Off again');
  assert.deepEqual(off.messages.map((/** @type {any} */ { content }) => content), [...shown(chat()).slice(0, 4), 'Off again']);
});

test('forgetting names what went out: as it was before it was switched on, else with surrogates', async () => {
  const { app, say, answer, engine, chat } = await redactedPage({});
  await say(SAID);
  await answer(`Hello ${NAME}`);
  changeRedaction(app, CHOICE);
  await say('And now?');
  await answer('So.');
  await app.forgetChat(chat().id);
  const [, said] = engine.forgotten.at(-1);
  const plain = said.filter((/** @type {any} */ each) => JSON.stringify(each).includes(NAME));
  assert.equal(plain.length, 1);
  assert.equal(plain[0].length, 2);
  assert.equal(said.length, 3);
});

test('a chat that was redacted from its beginning is never named as it is', async () => {
  const { app, say, answer, engine, chat } = await redactedPage();
  await say(SAID);
  await answer('Hello');
  app.steering.amend('m2', `Hello ${NAME}`, false);
  await app.forgetChat(chat().id);
  clean(engine.forgotten.at(-1)[1]);
});

test('another chat begins with another secret', async () => {
  const { app, say, answer, chat } = await redactedPage();
  await say(SAID);
  await answer('Hello');
  const { secret } = chat().redaction ?? assert.fail();
  app.newChat();
  assert.notEqual(chat().redaction?.secret, secret);
  assert.equal(chat().redaction?.entries.length, 0);
});

test('what is chosen in a chat is its own, but for names; the settings have neither its map nor its secret', async () => {
  const { app, say, answer, chat } = await redactedPage({});
  await say('Hi');
  await answer('Hello');
  changeRedaction(app, { ...CHOICE, names: ['Anna Schmidt'] });
  assert.deepEqual(app.settings.value.redaction, { ...CHOICE, on: false, names: ['Anna Schmidt'] });
  await say(SAID);
  await answer('Yes');
  changeRedaction(app, { .../** @type {any} */ (chat().redaction), names: ['Bo Quux'] });
  assert.deepEqual(app.settings.value.redaction, { ...CHOICE, on: false, names: ['Bo Quux'] });
  app.newChat();
  assert.equal(chat().redaction ?? null, null);
});

test('nothing is sent where the rules cannot be loaded, or the map is not one', async () => {
  const { app, engine, chat } = await redactedPage();
  const entry = { kind: 'given', key: 'anna', value: 'Anna', surrogate: 'Berta', rule: '' };
  app.changeChat({ redaction: { ...(chat().redaction ?? assert.fail()), entries: [entry, entry] } });
  app.send(SAID);
  await quiet();
  assert.equal(engine.last('reply'), undefined);
  assert.equal(app.replies.failure.value?.code, 'redaction_map_invalid');
});
