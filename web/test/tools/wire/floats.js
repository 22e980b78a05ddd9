// node floats.js FOLDER WIDTH: what the formats of the wire make of FOLDER/f32, rows of WIDTH.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { narrow, roundTo, widen } from '../../../src/protocol/floats.js';
import { PrefixChain } from '../../../src/protocol/digest.js';
import { Tensor } from '../../../src/protocol/tensor.js';

const [folder, width] = process.argv.slice(2);
const values = new Float32Array(new Uint8Array(readFileSync(join(folder, 'f32'))).buffer);

/** @param {string} name @param {Float32Array | Uint8Array} made */
function write(name, made) {
  writeFileSync(join(folder, name), new Uint8Array(made.buffer, made.byteOffset, made.byteLength));
}

for (const dtype of /** @type {const} */ (['f16', 'bf16'])) {
  write(`${dtype}.stored`, narrow(dtype, values));
  write(`${dtype}.rounded`, roundTo(dtype, values));
  const all = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
  write(`${dtype}.all`, widen(dtype, new Uint8Array(all.buffer)));
}

const moderate = values.map((value) => (Number.isFinite(value) ? value : 0));
const tensor = Tensor.fromF32(moderate, Number(width), 'i8');
write('i8.data', tensor.data);
write('i8.scales', tensor.scales);
write('i8.values', tensor.toF32());
const digests = new PrefixChain('m').following(0, tensor);
write('i8.digests', Buffer.concat(digests));
