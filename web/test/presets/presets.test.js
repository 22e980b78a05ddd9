import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPreset, presetText, presets } from '../../src/presets/presets.js';

test('all presets come by name, each with a text', () => {
  const all = presets();
  const names = ['brief', 'coder', 'critic', 'editor', 'teacher', 'translator'];
  assert.deepEqual(all.map(({ name }) => name), names);
  for (const { name, text } of all) assert.deepEqual(findPreset(` ${name.toUpperCase()} `), { name, text, own: false });
});

test('@NAME stands for its text, @@ for one @, anything else for itself', () => {
  assert.equal(presetText('@brief'), findPreset('brief').text);
  assert.equal(presetText('@@brief'), '@brief');
  assert.equal(presetText('Be brief.'), 'Be brief.');
  assert.equal(presetText(''), '');
});

test('an unknown name is refused with those that there are', () => {
  for (const name of ['@nobody', '@constructor', '@__proto__', '@']) {
    assert.throws(() => presetText(name), { code: 'preset_unknown', message: /there are: brief, / });
  }
});
