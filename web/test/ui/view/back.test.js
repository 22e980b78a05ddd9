import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { closeOnBack } from '../../../src/ui/view/back.js';

/** A history as browsers keep it: the way back is gone later than it is asked for. */
class Steps {
  /** @param {any[]} [states] */
  constructor(states = [null]) {
    this.states = states;
    this.at = states.length - 1;
    this.asked = 0;
    this.popped = () => {};
  }

  get state() {
    return this.states[this.at];
  }

  /** @param {any} state */
  pushState(state) {
    this.states.splice(++this.at, Infinity, state);
  }

  back() {
    this.asked += 1;
  }

  /** @param {number} [by] */
  go(by = -1) {
    this.at += by;
    this.popped();
  }

  /** The ways back that were asked for are gone. */
  settle() {
    for (; this.asked; this.asked -= 1) this.go();
  }
}

/** @param {any[]} [states] */
function page(states) {
  const steps = new Steps(states);
  const sheet = signal(/** @type {any} */ (null));
  const wide = signal(false);
  const listens = { addEventListener: (/** @type {string} */ _, /** @type {any} */ run) => (steps.popped = run) };
  closeOnBack(sheet, { beside: () => wide.value && sheet.value === 'chats', steps, page: /** @type {any} */ (listens) });
  return { steps, sheet, wide };
}

test('back closes a sheet, and forward opens it again', () => {
  const { steps, sheet } = page();
  sheet.value = 'settings';
  assert.deepEqual(steps.states, [null, { sheet: 'settings' }]);
  steps.go(-1);
  assert.equal(sheet.value, null);
  steps.go(1);
  assert.equal(sheet.value, 'settings');
  assert.equal(steps.asked, 0);
});

test('a sheet that is closed otherwise takes its step along', () => {
  const { steps, sheet } = page();
  sheet.value = 'settings';
  sheet.value = null;
  steps.settle();
  assert.equal(steps.at, 0);
  assert.equal(sheet.value, null);
});

test('a sheet that is opened before the way back is gone has its step afterwards', () => {
  const { steps, sheet } = page();
  sheet.value = 'chats';
  sheet.value = null;
  sheet.value = 'settings';
  steps.settle();
  assert.equal(sheet.value, 'settings');
  assert.deepEqual(steps.states.slice(0, steps.at + 1), [null, { sheet: 'settings' }]);
});

test('one sheet in place of another has one step', () => {
  const { steps, sheet } = page();
  sheet.value = 'settings';
  sheet.value = 'attention';
  assert.equal(steps.states.length, 2);
  steps.go(-1);
  assert.equal(sheet.value, null);
});

test('chats beside the messages are no step, and a drawer that becomes them loses its own', () => {
  const { steps, sheet, wide } = page();
  sheet.value = 'chats';
  assert.equal(steps.at, 1);
  wide.value = true;
  steps.settle();
  assert.equal(steps.at, 0);
});

test('a page that is loaded in the step of a sheet leaves it', () => {
  const { steps, sheet } = page([null, { sheet: 'settings' }]);
  steps.settle();
  assert.equal(steps.at, 0);
  assert.equal(sheet.value, null);
});
