import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf, enterSends, sends } from '../../../src/ui/view/shortcuts.js';

/** @param {string} key @param {object} [held] @returns {any} */
const press = (key, held = {}) => {
  return { key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held };
};

test('Escape stops, Ctrl or Cmd with K searches, with Shift it begins a chat', () => {
  assert.equal(commandOf(press('Escape')), 'stop');
  assert.equal(commandOf(press('k', { ctrlKey: true })), 'search');
  assert.equal(commandOf(press('k', { metaKey: true })), 'search');
  assert.equal(commandOf(press('K', { ctrlKey: true, shiftKey: true })), 'new_chat');
  assert.equal(commandOf(press(',', { ctrlKey: true })), 'settings');
});

test('letters, and keys of an input method, are no commands', () => {
  assert.equal(commandOf(press('k')), null);
  assert.equal(commandOf(press('Escape', { isComposing: true })), null);
  assert.equal(commandOf(press('k', { ctrlKey: true, altKey: true })), null);
});

test('Enter sends and Shift+Enter does not, or the other way round with Ctrl', () => {
  assert.equal(sends(press('Enter'), true), true);
  assert.equal(sends(press('Enter', { shiftKey: true }), true), false);
  assert.equal(sends(press('Enter'), false), false);
  assert.equal(sends(press('Enter', { ctrlKey: true }), false), true);
});

test('the Enter that ends a composed word sends nothing', () => {
  assert.equal(sends(press('Enter', { isComposing: true }), true), false);
});

test('Enter sends from keys and not from a screen, unless it is chosen', () => {
  assert.equal(enterSends('auto', () => true), true);
  assert.equal(enterSends('auto', () => false), false);
  assert.equal(enterSends('sends', () => false), true);
  assert.equal(enterSends('breaks', () => true), false);
});
