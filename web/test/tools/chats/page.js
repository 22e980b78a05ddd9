// The chats' rooms on a page of their own, for tests that drive them: window.chats.
import * as about from '../../../src/chats/about.js';
import { ChatStore } from '../../../src/chats/store.js';
import * as tree from '../../../src/chats/tree.js';

/** Saves of a reply that streams, each with its length in words as the last word; never ends. */
async function stream(/** @type {ChatStore} */ store, /** @type {string} */ id) {
  const asked = tree.say(tree.newChat({ id, now: 1 }), 'go', 1);
  const state = { saved: 0 };
  const words = 'word '.repeat(20_000);
  void (async () => {
    for (let count = 1; ; count += 1) {
      const text = `${words.slice(0, count * 500)}end ${count}`;
      await store.save(tree.reply(asked, text, { reason: 'interrupted' }, count));
      state.saved = count;
    }
  })();
  return state;
}

/** @param {() => Promise<unknown>} work @returns {Promise<string>} the code of its error, '' without one */
async function codeOf(work) {
  try {
    await work();
    return '';
  } catch (error) {
    return /** @type {{code?: string}} */ (error).code ?? String(error);
  }
}

Object.assign(globalThis, { chats: { ChatStore, stream, codeOf, ...about, ...tree } });
