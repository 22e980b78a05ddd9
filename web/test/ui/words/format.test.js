import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, counted, duration, isFigure, rate, size, tokensThere, tripsTaken } from '../../../src/ui/words/format.js';

test('sizes have three digits or fewer and decimal units', () => {
  const shown = [0, 999, 1000, 8_400_000, 99_960_000, 271_000_000, 12e9].map(size);
  assert.deepEqual(shown, ['0 B', '999 B', '1.0 kB', '8.4 MB', '100 MB', '271 MB', '12.0 GB']);
});

test('of a prompt it is told what was there, where the server had kept a part of it', () => {
  const stats = { promptTokens: 1158, promptSent: 6, promptRestored: 1100 };
  assert.equal(tokensThere(stats), '1,152 of 1,158 tokens were there');
  for (const other of [{ promptRestored: 0 }, { promptRestored: '9' }, { promptSent: 1158 }, { promptTokens: null }]) {
    assert.equal(tokensThere({ ...stats, ...other }), '');
  }
  assert.equal(tokensThere({ tokens: 4 }), '');
  assert.equal(tokensThere({ ...stats, promptApproximate: 1100 }), '≈1,152 of 1,158 tokens were there');
  assert.equal(tokensThere({ ...stats, promptRestored: 0, promptApproximate: 9 }), '≈1,152 of 1,158 tokens were there');
  for (const odd of [-1, 0.5, 1e300]) assert.equal(tokensThere({ ...stats, promptTokens: odd, promptSent: odd / 2 }), '');
  assert.equal(tokensThere({ ...stats, promptApproximate: 'many' }), '1,152 of 1,158 tokens were there');
});

test('round trips are told where drafts were sent or tokens were forced', () => {
  const stats = { roundTrips: 12, drafted: 40, accepted: 31, forced: 0 };
  assert.equal(tripsTaken(stats), '12 round trips, 31 of 40 drafts right');
  assert.equal(tripsTaken({ ...stats, roundTrips: 1, drafted: 1, accepted: 0 }), '1 round trip, 0 of 1 draft right');
  assert.equal(tripsTaken({ ...stats, drafted: 0, accepted: 0, forced: 9 }), '12 round trips, 9 forced');
  for (const other of [{ drafted: 0 }, { drafted: -1 }, { accepted: '9' }, { roundTrips: null }, { forced: 0.5 }]) {
    assert.equal(tripsTaken({ ...stats, ...other }), '');
  }
  for (const other of [{ accepted: 41 }, { drafted: 1e300 }, { roundTrips: -3 }]) assert.equal(tripsTaken({ ...stats, ...other }), '');
  assert.equal(tripsTaken({ tokens: 4 }), '');
});

test('no size reads as a thousand of a smaller unit', () => {
  assert.equal(size(999_600), '1.0 MB');
});

test('durations keep to the unit that matters', () => {
  assert.deepEqual([0.121, 1.26, 42.4, 300, 7500].map(duration), ['121 ms', '1.3 s', '42 s', '5 min', '2 h']);
});

test('rates lose their fraction where it says nothing', () => {
  assert.deepEqual([2.34, 9.96, 61.2].map(rate), ['2.3 tok/s', '10 tok/s', '61 tok/s']);
});

test('things are counted in the singular and the plural', () => {
  assert.deepEqual([counted(1, 'token'), counted(1234, 'token')], ['1 token', '1,234 tokens']);
});

test('times are said from now to a date', () => {
  const now = Date.UTC(2026, 5, 30, 12);
  const minute = 60_000;
  const past = [0, 5, 3 * 60, 26 * 60, 9 * 1440];
  const shown = past.map((minutes) => ago(now - minutes * minute, now));
  assert.deepEqual(shown, ['just now', '5 min ago', '3 h ago', '1 day ago', '2026-06-21']);
});

test('a figure of a reply is a number that it could have', () => {
  assert.deepEqual([0, 0.5, 1e9].map(isFigure), [true, true, true]);
  assert.deepEqual([-1, 1e10, NaN, Infinity, '4', null, undefined].map(isFigure), Array(7).fill(false));
});
