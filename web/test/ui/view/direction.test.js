import assert from 'node:assert/strict';
import { test } from 'node:test';
import { directionOf } from '../../../src/ui/view/direction.js';

test('a short text is left to the browser, a long one goes the way of its first letter', () => {
  const long = ' - 12. '.repeat(1000);
  assert.equal(directionOf('مرحبا'), 'auto');
  assert.equal(directionOf(`${long}مرحبا and more`), 'rtl');
  assert.equal(directionOf(`${long}שלום`), 'rtl');
  assert.equal(directionOf(`${long}hello مرحبا`), 'ltr');
  assert.equal(directionOf(long), 'ltr');
});
