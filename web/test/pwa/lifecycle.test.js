import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchAwake } from '../../src/pwa/lifecycle.js';

function world() {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  /** @type {string[]} */
  const told = [];
  const stop = watchAwake((reason) => told.push(reason), {
    window,
    document,
    onOffline: () => told.push('offline!'),
    onHidden: () => told.push('hidden!'),
  });
  return { window, document, told, stop };
}

test('every way to wake up is told with its reason', () => {
  const { window, document, told } = world();
  window.dispatchEvent(new Event('online'));
  document.dispatchEvent(new Event('visibilitychange'));
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  document.dispatchEvent(new Event('resume'));
  assert.deepEqual(told, ['online', 'visible', 'restored', 'resumed']);
});

test('the first show of a page is no awakening', () => {
  const { window, told } = world();
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }));
  assert.deepEqual(told, []);
});

test('going away is told apart, and is the last moment to save', () => {
  const { window, document, told } = world();
  window.dispatchEvent(new Event('offline'));
  document.visibilityState = 'hidden';
  document.dispatchEvent(new Event('visibilitychange'));
  window.dispatchEvent(new Event('pagehide'));
  assert.deepEqual(told, ['offline!', 'hidden!', 'hidden!']);
});

test('after the end nothing is told', () => {
  const { window, document, told, stop } = world();
  stop();
  window.dispatchEvent(new Event('online'));
  document.dispatchEvent(new Event('visibilitychange'));
  assert.deepEqual(told, []);
});

test('a page that goes for good is told apart from one that is hidden', () => {
  const window = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
  /** @type {string[]} */
  const told = [];
  watchAwake(() => {}, { window, document, onHidden: () => told.push('hidden'), onLeaving: () => told.push('leaving') });
  document.dispatchEvent(new Event('visibilitychange'));
  window.dispatchEvent(new Event('pagehide'));
  assert.deepEqual(told, ['hidden', 'leaving']);
});
