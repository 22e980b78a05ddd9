import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryRecords } from '../../../../src/chats/records.js';
import { ChatStore } from '../../../../src/chats/store.js';
import { path } from '../../../../src/chats/tree.js';
import { DEFAULTS } from '../../../../src/settings/settings.js';
import { App } from '../../../../src/ui/state/app.js';
import { AskedWriters } from '../../../../src/ui/state/tabs/asked_writers.js';
import { LockedWriters } from '../../../../src/ui/state/tabs/writers.js';
import { elsewhereWords } from '../../../../src/ui/words/explain.js';
import { FakeLocks, Tabs } from './tabs.js';
import { ScriptedEngine, settled, untilReady } from '../../scripted.js';

const DONE = {
  reason: 'eos', tokens: 2, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1, tokensPerSecond: 9,
};

/** @param {ChatStore} store @param {import('../../../../src/ui/state/tabs/writers.js').Writers} writers */
async function tab(store, writers) {
  const engine = new ScriptedEngine();
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: DEFAULTS,
    saveSettings: () => true,
    clock: { now: () => 0, frame: () => {} },
    writers,
  });
  await untilReady(app, engine);
  return { app, engine };
}

for (const kind of ['locks', 'asking']) {
  const twoTabs = async () => {
    const records = new MemoryRecords();
    const [chats, world, locks] = [new Tabs(), new Tabs(), new FakeLocks()];
    const writers = [0, 1].map((nth) =>
      kind === 'locks' ? new LockedWriters(locks.of(nth)) : new AskedWriters(world.channel(), world.timers),
    );
    const stores = [0, 1].map(() => new ChatStore('memory', records, chats.channel()));
    const [first, second] = [await tab(stores[0], writers[0]), await tab(stores[1], writers[1])];
    /** @param {() => void} [last] what others hear of the tab after it answers no more */
    const die = async (last = () => {}) => {
      locks.kill(0);
      if (kind === 'asking') world.kill(0);
      last();
      await settled();
      for (let i = 0; i < 3; i++) world.pass();
      await settled();
    };
    return { first, second, die };
  };

  /** The second tab shows the chat that the first one writes a reply of. */
  const written = async () => {
    const tabs = await twoTabs();
    tabs.first.app.send('Hello');
    await settled();
    await tabs.second.app.openChat(tabs.first.app.library.chat.value.id);
    await settled();
    return tabs;
  };

  test(`${kind}: a tab that shows a chat whose reply another one writes says so and offers none`, async () => {
    const { first, second } = await written();
    assert.equal(second.app.hindrance.value, elsewhereWords());
    assert.equal(second.app.regenerate(null), false);
    assert.equal(first.app.hindrance.value, 'A reply is being written.');
    second.app.newChat();
    assert.equal(second.app.hindrance.value, null);
  });

  test(`${kind}: once the other tab has ended, the reply is shown and the chat is free`, async () => {
    const { first, second } = await written();
    first.engine.last('reply').resolve({ ...DONE, text: 'Hi.' });
    await settled();
    await settled();
    assert.deepEqual(path(second.app.library.chat.value).map(({ content }) => content), ['Hello', 'Hi.']);
    assert.equal(second.app.hindrance.value, null);
    assert.equal(first.app.elsewhere.writing.value, false);
    assert.equal(second.app.send('And now?'), true);
    await settled();
    assert.equal(first.app.hindrance.value, elsewhereWords());
  });

  test(`${kind}: a reply whose tab is gone can be asked for here`, async () => {
    const { second, die } = await written();
    await die();
    assert.equal(second.app.hindrance.value, null);
    assert.equal(second.app.regenerate(null), true);
    assert.equal(second.engine.last('reply').args[0].messages.at(-1).content, 'Hello');
  });

  test(`${kind}: a tab that saves its reply with its last breath is gone as well`, async () => {
    const { first, second, die } = await written();
    first.engine.last('reply').args[1].onToken({ text: 'Hi' });
    await die(() => first.app.hide());
    assert.equal(path(second.app.library.chat.value).at(-1)?.content, 'Hi');
    assert.equal(second.app.hindrance.value, null);
  });

  test(`${kind}: settings of a chat that another tab writes stay, so that it can save the reply`, async () => {
    const { first, second } = await written();
    second.app.changeChat({ attention: true });
    await settled();
    first.engine.last('reply').resolve({ ...DONE, text: 'Hi.' });
    await settled();
    await settled();
    assert.deepEqual(path(second.app.library.chat.value).map(({ content }) => content), ['Hello', 'Hi.']);
    assert.deepEqual(first.app.toasts.shown.value, []);
    second.app.changeChat({ attention: true });
    assert.equal(second.app.library.chat.value.attention, true);
  });

  test(`${kind}: of two tabs that ask at once, the one that has its reply first waits for the other`, async () => {
    const { first, second } = await written();
    first.engine.last('reply').resolve({ ...DONE, text: 'Hi.' });
    await settled();
    await settled();
    assert.deepEqual([first.app.regenerate(null), second.app.regenerate(null)], [true, true]);
    await settled();
    second.engine.last('reply').resolve({ ...DONE, text: 'Second.' });
    await settled();
    await settled();
    assert.equal(second.app.hindrance.value, elsewhereWords());
    first.engine.last('reply').resolve({ ...DONE, text: 'First.' });
    await settled();
    await settled();
    assert.equal(second.app.hindrance.value, null);
  });

  test(`${kind}: a message that the other tab adds to the chat shown here is noticed`, async () => {
    const { first, second } = await written();
    first.engine.last('reply').resolve({ ...DONE, text: 'Hi.' });
    await settled();
    await settled();
    first.app.send('More');
    await settled();
    assert.equal(second.app.hindrance.value, elsewhereWords());
    second.app.undo();
    assert.equal(path(second.app.library.chat.value).at(-1)?.content, 'More');
  });
}
