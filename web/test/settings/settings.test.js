import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paramsFrom } from '../../src/generation/params.js';
import {
  DEFAULTS,
  KEY,
  checkedSettings,
  isSetting,
  loadSettings,
  samplingFields,
  saveSettings,
  watchSettings,
} from '../../src/settings/settings.js';

/** @typedef {import('../../src/settings/types').Settings} Settings */

/** @param {string|null} [text] */
function storageWith(text = null) {
  return {
    text,
    getItem: (/** @type {string} */ key) => (key === KEY ? storage_.text : null),
    setItem: (/** @type {string} */ _key, /** @type {string} */ value) => {
      storage_.text = value;
    },
  };
}
let storage_ = storageWith();

/** @param {unknown} value @returns {Settings} */
function loaded(value) {
  storage_ = storageWith(typeof value === 'string' ? value : JSON.stringify(value));
  return loadSettings(storage_);
}

test('nothing kept yet is the defaults, which are all valid', () => {
  storage_ = storageWith();
  assert.deepEqual(loadSettings(storage_), DEFAULTS);
  assert.deepEqual(checkedSettings(DEFAULTS), DEFAULTS);
});

test('what was saved is loaded again', () => {
  storage_ = storageWith();
  const sampling = { temperature: 0.7, seed: '18446744073709551615', logit_bias: { 5: -100 } };
  const settings = { ...DEFAULTS, ...sampling, stop: ['\n\n'] };
  assert.equal(saveSettings(settings, storage_), true);
  assert.deepEqual(loadSettings(storage_), settings);
});

/** @type {[keyof Settings, unknown][]} */
const INVALID = [
  ['theme', 'pink'],
  ['model', ''],
  ['model', '../x'],
  ['model', '.x'],
  ['model', 'x'.repeat(65)],
  ['theme', 'constructor'],
  ['temperature', -0.1],
  ['temperature', 101],
  ['temperature', '1'],
  ['temperature', Number.NaN],
  ['temperature', true],
  ['top_k', 1.5],
  ['top_k', -1],
  ['top_k', 2 ** 31],
  ['top_p', 0],
  ['top_p', 1.01],
  ['min_p', -0.1],
  ['repetition_penalty', 0],
  ['presence_penalty', 2.1],
  ['frequency_penalty', -2.1],
  ['seed', 7],
  ['seed', '18446744073709551616'],
  ['seed', '-1'],
  ['seed', '1.0'],
  ['logit_bias', []],
  ['logit_bias', { x: 1 }],
  ['logit_bias', { 1: 101 }],
  ['logit_bias', Object.fromEntries(Array.from({ length: 1025 }, (_, id) => [id, 1]))],
  ['max_tokens', 0],
  ['max_tokens', 2 ** 24 + 1],
  ['stop', 'x'],
  ['stop', ['']],
  ['stop', Array(17).fill('x')],
  ['stop', ['x'.repeat(1001)]],
  ['system', null],
  ['system', 'x'.repeat(100_001)],
  ['adapter', ''],
  ['transport', 'tcp'],
  ['enter', 1],
  ['enter', true],
];

for (const [name, value] of INVALID) {
  const shown = JSON.stringify(value)?.slice(0, 30);
  test(`an invalid ${name} is the default and the rest is kept: ${shown}`, () => {
    const given = { ...DEFAULTS, theme: 'dark', enter: 'sends', [name]: value };
    const expected = { ...DEFAULTS, theme: 'dark', enter: 'sends', [name]: DEFAULTS[name] };
    assert.deepEqual(checkedSettings(given), expected);
    assert.equal(isSetting(name, value), false);
  });
}

test('unknown fields and keys of prototypes are dropped', () => {
  const own = '"token": "secret", "constructor": 1, "theme": "light"';
  const settings = loaded(`{"__proto__": {"theme": "dark"}, ${own}}`);
  assert.deepEqual(settings, { ...DEFAULTS, theme: 'light' });
  assert.equal(isSetting('toString', 1), false);
});

for (const text of ['', '{', 'null', '7', '[]', '"x"', '['.repeat(100_000)]) {
  test(`a damaged storage is the defaults: ${text.slice(0, 10)}`, () => {
    assert.deepEqual(loaded(text), DEFAULTS);
  });
}

test('sampling fields that are set go to the sampler as they are, and it takes every valid one', () => {
  const settings = {
    ...DEFAULTS,
    temperature: 0,
    top_k: 0,
    top_p: 1,
    min_p: 1,
    repetition_penalty: 0.01,
    presence_penalty: -2,
    frequency_penalty: 2,
    seed: '18446744073709551615',
    logit_bias: { 7: 100 },
  };
  const fields = samplingFields(settings);
  assert.equal(Object.keys(fields).length, 9);
  const params = paramsFrom(fields);
  assert.equal(params.seed, 2n ** 64n - 1n);
  assert.equal(params.minP, 1);
  assert.equal(params.logitBias.get(7), 100);
  assert.deepEqual(samplingFields({ ...DEFAULTS }), {});
});

test('what the sampler refuses is no setting', () => {
  for (const [name, value] of INVALID.filter(([name]) => name in paramFields)) {
    // JSON has no whole numbers of 64 bits, so that a seed is text here and may be a number there.
    if (name === 'seed' && value === 7) continue;
    assert.throws(() => paramsFrom({ [name]: value }), { code: 'invalid_sampling_parameter' }, name);
  }
});
const paramFields = samplingFields({ ...DEFAULTS, temperature: 1, top_k: 1, top_p: 1, min_p: 1, seed: '1' });

test('a browser that keeps nothing keeps settings as long as the page', () => {
  const closed = {
    getItem: () => {
      throw new DOMException('no', 'SecurityError');
    },
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError');
    },
  };
  assert.equal(saveSettings({ ...DEFAULTS, theme: 'dark' }, closed), false);
  assert.equal(loadSettings(closed).theme, 'dark');
  assert.equal(saveSettings({ ...DEFAULTS, theme: 'light' }, null), false);
  assert.equal(loadSettings(null).theme, 'light');
  storage_ = storageWith();
  assert.equal(saveSettings({ ...DEFAULTS }, storage_), true);
});

test('settings of another tab are told, checked', () => {
  const page = new EventTarget();
  /** @type {string[]} */
  const themes = [];
  const stop = watchSettings((settings) => themes.push(settings.theme), /** @type {any} */ (page));
  const change = (/** @type {string} */ key, /** @type {string|null} */ newValue) =>
    page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }));
  change(KEY, '{"theme": "dark"}');
  change('other', '{"theme": "light"}');
  change(KEY, '{"theme": 5}');
  stop();
  change(KEY, '{"theme": "dark"}');
  assert.deepEqual(themes, ['dark', 'auto']);
});

test('that Enter breaks the line, as version 0.1 kept it, is still chosen; that it sends was only the default', () => {
  assert.equal(loaded({ enterSends: false }).enter, 'breaks');
  assert.equal(loaded({ enterSends: true }).enter, 'auto');
  assert.equal(loaded({ enterSends: false, enter: 'sends' }).enter, 'sends');
});
