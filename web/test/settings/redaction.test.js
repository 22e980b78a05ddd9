import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstRedaction } from '../../src/settings/redaction.js';
import { isRedaction } from '../../src/settings/redaction_check.js';

test('a chat begins with all kinds but dates, and with the countries of the browser’s languages', () => {
  const first = firstRedaction(['de-AT', 'de', 'en-GB', 'not a tag', 'eo']);
  assert.ok(isRedaction(first));
  assert.deepEqual(first.regions.slice(0, 3), ['AT', 'DE', 'GB']);
  assert.ok(first.regions.length <= 4);
  assert.ok(!first.groups.includes('dates'));
  assert.equal(first.groups.length, 7);
});

test('what is no choice is told from one', () => {
  const choice = firstRedaction(['de']);
  const broken = [null, {}, { ...choice, on: 1 }, { ...choice, groups: 'names' }, { ...choice, groups: ['all'] },
    { ...choice, names: ['x'.repeat(201)] }, { ...choice, names: Array(5001).fill('Anna') }, { ...choice, regions: ['de'] }];
  for (const each of broken) assert.equal(isRedaction(each), false, JSON.stringify(each)?.slice(0, 80));
});
