import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formsOf, travelling } from '../../../src/weights/download/blocks.js';
import { parseManifest } from '../../../src/weights/manifest.js';
import { noise } from '../offers.js';
import { PACKED, PackedOffer } from '../packed_offer.js';

const file = new URL('../../../../tests/vectors/blocks.json', import.meta.url);
const VECTORS = JSON.parse(readFileSync(file, 'utf8'));
const BLOCK = 34;

/** @param {string} hex */
const bytes = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));
/** @param {Uint8Array} data */
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
/** @param {PackedOffer} offer @param {string} [told] */
const forms = (offer, told = PACKED) => formsOf(parseManifest(offer.manifest), told);
const { unpacked, sized } = /** @type {any} */ (forms(new PackedOffer()).get('embedding.bin'));

for (const { name, blocks, bf16 } of VECTORS.cases) {
  test(`a block is the rows of the shared vectors: ${name}`, () => {
    assert.deepEqual(unpacked(bytes(blocks)), bytes(bf16));
  });
}

test('every finite scale gives the rows of the shared vectors', () => {
  const { blocks, blocks_sha256, bf16_sha256 } = VECTORS.every_scale;
  const packed = new Uint8Array(blocks * BLOCK);
  let at = 0;
  for (let scale = 0; scale < 1 << 16; scale += 1) {
    if ((scale & 0x7c00) === 0x7c00) continue;
    packed.set([scale & 255, scale >> 8], at);
    for (let i = 0; i < 32; i += 1) packed[at + 2 + i] = 7 * scale + 37 * i;
    at += BLOCK;
  }
  assert.equal(sha256(packed), blocks_sha256);
  assert.equal(sha256(unpacked(packed)), bf16_sha256);
});

test('any bytes are read, block by block, wherever they lie', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const count = seed % 7;
    const behind = noise(count * BLOCK + 3, seed).subarray(3);
    const whole = unpacked(behind).slice();
    assert.equal(whole.length, count * 64);
    for (let block = 0; block < count; block += 1) {
      const alone = unpacked(behind.slice(block * BLOCK, (block + 1) * BLOCK));
      assert.deepEqual(alone, whole.subarray(block * 64, (block + 1) * 64));
    }
  }
});

test('only rows of bfloat16 in whole blocks are read packed, where the server tells of them', () => {
  assert.deepEqual([...forms(new PackedOffer()).values()].map(({ name }) => name), [PACKED]);
  assert.equal(forms(new PackedOffer(), `head.bin.q8_0, ${PACKED}`).size, 1);
  assert.equal(forms(new PackedOffer(), 'embedding.bin, tokenizer.json.q8_0, EMBEDDING.BIN.q8_0').size, 0);
  assert.equal(forms(new PackedOffer((document) => {
    for (const end of Object.values(document.ends)) /** @type {any} */ (end).dtype = 'f16';
    return document;
  })).size, 0);
  assert.equal(forms(new PackedOffer((document) => {
    const [table] = document.files;
    table.chunk_size += 2;
    return document;
  })).size, 0);
});

test('what travels is told from what is stored, tables first', () => {
  const offer = new PackedOffer();
  const manifest = parseManifest(offer.manifest);
  const table = offer.files['embedding.bin'].length;
  const told = (/** @type {number} */ stored) => travelling(manifest, PACKED, stored);
  assert.equal(told(0).comes, offer.size - table + sized(table));
  assert.deepEqual([0, 640, table, table + 5].map((stored) => told(stored).doneBytes),
    [0, 340, sized(table), sized(table) + 5]);
  assert.deepEqual(travelling(manifest, '', 77), { comes: offer.size, doneBytes: 77 });
});
