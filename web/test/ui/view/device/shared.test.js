import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeWhatIsShared } from '../../../../src/ui/view/device/shared.js';
import { FakeCaches } from '../../../pwa/fakes.js';

const ORIGIN = 'https://gate.test';

/** @param {string} text that was shared @param {string} draft of new chats @param {string} [search] */
async function page(text, draft, search = '?shared') {
  const kept = /** @type {any} */ (new FakeCaches());
  if (text) await (await kept.open('gatelink-shared')).put(`${ORIGIN}/share`, new Response(text));
  /** @type {any[]} */
  const done = [];
  const app = /** @type {any} */ ({ opened: Promise.resolve().then(() => done.push('opened')), draft: { value: draft },
    newChat: () => done.push('new'), type: (/** @type {string} */ typed) => done.push(typed) });
  const steps = { state: null, replaceState: (/** @type {any} */ ...to) => void done.push(to[2]) };
  await takeWhatIsShared(app, { place: { search, origin: ORIGIN, pathname: '/' }, steps, kept });
  return done;
}

test('what is shared stands in a new chat, once the chat that was open last is there', async () => {
  assert.deepEqual(await page('Look', ''), ['/', 'opened', 'new', 'Look']);
});

test('what was being written stays before it', async () => {
  assert.deepEqual((await page('Look', 'Mine')).at(-1), 'Mine\n\nLook');
});

test('without anything shared no chat is begun', async () => {
  assert.deepEqual(await page('', ''), ['/', 'opened']);
  assert.deepEqual((await page('Look', '', '?from=home')).filter((each) => each !== 'opened'), []);
});
