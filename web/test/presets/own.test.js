import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY, MOST, OwnPresets } from '../../src/presets/own.js';
import { findPreset, presets } from '../../src/presets/presets.js';

function memory(text = '[]') {
  const values = new Map([[KEY, text]]);
  return { getItem: (/** @type {string} */ key) => values.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void values.set(key, value) };
}

test('an own preset is kept, named anew and taken away', () => {
  const kept = memory();
  assert.equal(new OwnPresets(kept).save(' @Pirate ', 'Talk like one.'), 'pirate');
  const own = new OwnPresets(kept);
  assert.equal(own.all().get('pirate'), 'Talk like one.');
  assert.equal(own.rename('pirate', 'sailor'), 'sailor');
  assert.deepEqual([...own.all().keys()], ['sailor']);
  own.remove('sailor');
  assert.equal(own.all().size, 0);
});

test('an own preset hides the one that comes along', () => {
  const own = new OwnPresets(memory());
  own.save('brief', 'Three words.');
  assert.deepEqual(findPreset('brief', own.all()), { name: 'brief', text: 'Three words.', own: true });
  assert.equal(presets(own.all()).filter(({ name }) => name === 'brief').length, 1);
});

test('another text of the same name, bad names and too many are refused', () => {
  const own = new OwnPresets(memory());
  own.save('a', 'x');
  own.save('a', 'x');
  assert.throws(() => own.save('a', 'y'), { code: 'preset_exists' });
  for (const name of ['', 'two words', 'ä', '-a', 'x'.repeat(41), '__proto__']) {
    assert.throws(() => own.save(name, 'x'), { code: 'preset_name_invalid' });
  }
  assert.throws(() => own.save('b', ' '), { code: 'preset_failed' });
  assert.throws(() => own.rename('nobody', 'b'), { code: 'preset_unknown' });
  for (let index = own.all().size; index < MOST; index += 1) own.save(`n${index}`, 'x');
  assert.throws(() => own.save('more', 'x'), { code: 'preset_failed', message: /delete one/ });
});

test('what is kept and no presets is left out', () => {
  for (const text of ['', '{', '{}', '[1, null, ["a"], ["A", "x"], ["__proto__", "x"]]', '[["ok", "x"], ["b", 1]]']) {
    assert.ok(new OwnPresets(memory(text)).all().size <= 1, text);
  }
});

test('a browser that keeps nothing says so', () => {
  assert.throws(() => new OwnPresets(null).save('a', 'x'), { code: 'preset_failed' });
});
