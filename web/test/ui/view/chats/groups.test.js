import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldersOf, groupsOf } from '../../../../src/ui/view/chats/groups.js';

const NOW = new Date(2026, 10, 20, 9, 30).getTime();
const before = (/** @type {number} */ days, about = {}) =>
  ({ id: `${days}`, title: '', count: 1, updated: NOW - days * 86_400_000, ...about });
const shown = (/** @type {any[]} */ chats) => groupsOf(chats, NOW).map(({ kind, name, chats: own }) => [kind, name, own.length]);

test('chats stand by the day of their last change', () => {
  // An hour before midnight is yesterday, though it is less than a day ago.
  const chats = [0, 0.3, 0.45, 1.5, 3, 7.2, 20, 40, 41, 400].map((days) => before(days));
  assert.deepEqual(shown(chats), [['today', '', 2], ['yesterday', '', 1], ['week', '', 3], ['month', '', 1],
    ['earlier', '2026-10', 2], ['earlier', '2025-10', 1]]);
});

test('pinned ones come first, also those of a folder, and folders by name', () => {
  const chats = [before(0), before(1, { folder: 'b' }), before(2, { folder: 'a' }), before(300, { folder: 'b', pinned: true })];
  assert.deepEqual(shown(chats), [['pinned', '', 1], ['folder', 'a', 1], ['folder', 'b', 1], ['today', '', 1]]);
  assert.deepEqual(foldersOf(chats), ['a', 'b']);
});

test('a chat of the future is one of today', () => {
  assert.deepEqual(shown([before(-3)]), [['today', '', 1]]);
  assert.deepEqual(shown([]), []);
});
