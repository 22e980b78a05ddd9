import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { MAX_MANIFEST_BYTES, parseManifest } from '../../src/weights/manifest.js';
import { sha256, sha256Now } from '../../src/weights/sha256.js';
import { CHUNK, documentOf, encode, HIDDEN, listed, manifestBytes, offeredFiles, VOCAB } from './offers.js';

const FILES = offeredFiles();

/**
 * A manifest with the value at a path like 'ends.lm_head.rows' changed.
 * @param {Record<string, unknown>} changes
 */
function changed(changes) {
  const document = structuredClone(documentOf(FILES));
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.');
    const last = /** @type {string} */ (steps.pop());
    steps.reduce((object, step) => object[step], document)[last] = value;
  }
  return document;
}

/** @param {Uint8Array} bytes */
function assertRefused(bytes) {
  assert.throws(
    () => parseManifest(bytes),
    (error) => error instanceof AppError && error.code === 'manifest_invalid',
  );
}

test('every value is taken over, and the digest is that of the bytes as served', () => {
  const bytes = encode(`${JSON.stringify(documentOf(FILES), null, 2)}\n`);
  const manifest = parseManifest(bytes);
  assert.equal(manifest.digest, sha256Now(bytes));
  assert.deepEqual([manifest.name, manifest.family, manifest.licence], ['tiny', 'qwen2', 'apache-2.0']);
  assert.deepEqual([manifest.hiddenSize, manifest.vocabSize, manifest.maxContext], [HIDDEN, VOCAB, 128]);
  assert.deepEqual(manifest.eosTokenIds, [3]);
  assert.deepEqual(manifest.specialTokens, { eos_token: '</s>' });
  assert.deepEqual(manifest.generation, { temperature: 0.7, top_k: 20 });
  assert.equal(
    manifest.size,
    Object.values(FILES).reduce((sum, file) => sum + file.length, 0),
  );
  assert.deepEqual(
    manifest.files.map((file) => file.chunks.length),
    [5, 1, 1],
  );
});

test('files that the device does not need are left out and unknown keys are ignored', () => {
  const document = changed({ future: '?' });
  document.files.push(listed('legacy.bin', encode('x')));
  const names = parseManifest(manifestBytes(document)).files.map((file) => file.name);
  assert.deepEqual(names, ['embedding.bin', 'tokenizer.json', 'chat_template.jinja']);
});

test('an untied head with a bias is read', () => {
  const head = {
    file: 'head.bin',
    dtype: 'bf16',
    rows: 1000,
    bias: 'bias.bin',
    softcap: 30,
    logit_scale: 0.5,
  };
  const document = changed({ 'ends.lm_head': head });
  document.files.push(
    listed('head.bin', new Uint8Array(1000 * HIDDEN * 2)),
    listed('bias.bin', new Uint8Array(4000)),
  );
  const read = parseManifest(manifestBytes(document));
  assert.deepEqual(read.head, {
    file: 'head.bin',
    dtype: 'bf16',
    rows: 1000,
    bias: 'bias.bin',
    softcap: 30,
    logitScale: 0.5,
    divide: false,
  });
  assert.equal(read.files.length, 5);
});

test('a divisor of logits stands in place of the factor', () => {
  const { head } = parseManifest(
    manifestBytes(changed({ 'ends.lm_head.logit_scale': null, 'ends.lm_head.logit_divisor': 10 })),
  );
  assert.deepEqual([head.logitScale, head.divide], [10, true]);
});

const EVIL_NAMES = [
  '../tokenizer.json',
  '/etc/passwd',
  'a/b',
  'a\\b',
  '..',
  '.hidden',
  '',
  'con\0',
  'a\nb',
  'a\n',
  '\u202etxt',
  'a'.repeat(200),
  'C:evil',
  7,
  null,
];

test('names that are not plain are refused', () => {
  for (const name of EVIL_NAMES) {
    const document = changed({ tokenizer: name, chat_template: null });
    document.files[1].name = name;
    assertRefused(manifestBytes(document));
  }
});

/** @type {Record<string, unknown>[]} */
const WRONG = [
  { format: 2 },
  { format: '1' },
  { model: [] },
  { 'model.name': '' },
  { 'model.licence': 5 },
  { hidden_size: 0 },
  { hidden_size: -64 },
  { hidden_size: 64.5 },
  { hidden_size: true },
  { hidden_size: 2 ** 40 },
  { hidden_size: 32 },
  { vocab_size: 1101 },
  { vocab_size: 1e12 },
  { num_layers: null },
  { max_context: 0 },
  { eos_token_ids: [1100] },
  { eos_token_ids: [-1] },
  { eos_token_ids: [true] },
  { eos_token_ids: '3' },
  { 'ends.embedding.dtype': 'int4' },
  { 'ends.embedding.dtype': 'f16' },
  { 'ends.embedding.rows': 1099 },
  { 'ends.embedding.scale': '8' },
  { 'ends.embedding.file': 'missing.bin' },
  { 'ends.embedding.file': 'tokenizer.json' },
  { 'ends.lm_head.rows': 1101 },
  { 'ends.lm_head.rows': 1000 },
  { 'ends.lm_head.bias': 'embedding.bin' },
  { 'ends.lm_head.softcap': -1 },
  { 'ends.lm_head.logit_scale': 0 },
  { 'ends.lm_head.logit_scale': null },
  { 'ends.lm_head.logit_divisor': 10 },
  { 'ends.lm_head.logit_scale': null, 'ends.lm_head.logit_divisor': 0 },
  { tokenizer: 'embedding.bin' },
  { chat_template: 'embedding.bin' },
  { chat_template: 'nowhere.jinja' },
  { special_tokens: [] },
  { special_tokens: null },
  { special_tokens: { eos_token: 5 } },
  { special_tokens: { a: 'x'.repeat(201) } },
  { 'generation.temperature': 'hot' },
  { 'generation.temperature': 1e10 },
  { files: {} },
  { files: [] },
  { files: [null] },
  { files: [listed('a', encode('a')), listed('A', encode('a'))] },
  { 'files.0.size': 0 },
  { 'files.0.size': VOCAB * HIDDEN * 4 + 1 },
  { 'files.0.chunk_size': 1 },
  { 'files.0.chunk_size': 2 ** 40 },
  { 'files.0.chunks': [] },
  { 'files.0.chunks': Array(4).fill('0'.repeat(64)) },
  { 'files.0.chunks': Array(5).fill('0'.repeat(63)) },
  { 'files.0.chunks': Array(5).fill('G'.repeat(64)) },
  { 'files.0.sha256': null },
  { 'files.1.name': 'manifest.json' },
];

for (const changes of WRONG) {
  test(`a value that cannot be is refused: ${JSON.stringify(changes).slice(0, 60)}`, () => {
    assertRefused(manifestBytes(changed(changes)));
  });
}

test('bytes that are no manifest are refused', () => {
  const texts = [
    '',
    '[]',
    'null',
    '{',
    '['.repeat(100_000),
    '{"format": NaN}',
    '{"format": 1e999}',
    '7',
    '"x"',
  ];
  for (const text of texts) assertRefused(encode(text));
  assertRefused(Uint8Array.of(0xff, 0xfe));
  assertRefused(new Uint8Array(MAX_MANIFEST_BYTES + 1).fill(32));
});

test('what a prototype lends is not taken for a value', () => {
  const text = JSON.stringify(changed({ tokenizer: undefined })).replace(
    '{',
    '{"__proto__": {"tokenizer": "x"}, ',
  );
  assertRefused(encode(text));
});

test('texts are counted in code points', () => {
  const name = '\u{1f600}'.repeat(200);
  assert.equal(parseManifest(manifestBytes(changed({ 'model.name': name }))).name, name);
  assertRefused(manifestBytes(changed({ 'model.name': `${name}x` })));
});

test('both ways to a SHA-256 agree with the examples of FIPS 180-4', async () => {
  const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  assert.equal(sha256Now(encode('abc')), abc);
  assert.equal(await sha256(encode('abc')), abc);
  const view = new Uint8Array(CHUNK).subarray(17, 1017);
  assert.equal(await sha256(view), sha256Now(view));
});
