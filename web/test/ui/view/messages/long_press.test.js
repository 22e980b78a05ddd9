import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longPress } from '../../../../src/ui/view/messages/long_press.js';

function finger() {
  /** @type {(() => void) | null} */
  let due = null;
  let pressed = 0;
  const later = (/** @type {() => void} */ run) => (due = run);
  const handlers = longPress(() => (pressed += 1), { later, never: () => (due = null) });
  return { handlers, wait: () => due?.(), count: () => pressed };
}

const at = (/** @type {number} */ x, pointerType = 'touch') => ({ pointerType, clientX: x, clientY: 0 });

test('a finger that rests is a long press', () => {
  const { handlers, wait, count } = finger();
  handlers.onPointerDown(at(0));
  handlers.onPointerMove(at(4));
  wait();
  assert.equal(count(), 1);
});

test('a finger that moves or leaves, and a mouse, are none', () => {
  const { handlers, wait, count } = finger();
  handlers.onPointerDown(at(0));
  handlers.onPointerMove(at(30));
  wait();
  handlers.onPointerDown(at(0));
  handlers.onPointerUp();
  wait();
  handlers.onPointerDown(at(0, 'mouse'));
  wait();
  assert.equal(count(), 0);
});
