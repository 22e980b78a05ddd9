// The shared vectors of the wire, and the forms that they are written in.
import { readFileSync } from 'node:fs';
import { requestValue } from '../../src/protocol/attention.js';
import { Tensor } from '../../src/protocol/tensor.js';

const path = new URL('../../../tests/vectors/wire.json', import.meta.url);

/** tests/vectors/README.md describes it. */
export const VECTORS = JSON.parse(readFileSync(path, 'utf8'));

/** @param {string} hex @returns {Uint8Array} */
export function unhex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Buffer.from(bytes).toString('hex');
}

/** The float32 values whose bits are `patterns`. @param {string[]} patterns */
export function fromBits(patterns) {
  return new Float32Array(Uint32Array.from(patterns, (pattern) => parseInt(pattern, 16)).buffer);
}

/** @param {Float32Array} values */
export function toBits(values) {
  const patterns = new Uint32Array(values.slice().buffer);
  return Array.from(patterns, (pattern) => pattern.toString(16).padStart(8, '0'));
}

/** @param {Tensor} tensor */
export function describeTensor(tensor) {
  const { rows, width } = tensor;
  const flat = tensor.dtype === 'i32' ? Array.from(tensor.wholeNumbers()) : toBits(tensor.toF32());
  const values = Array.from({ length: rows }, (_, row) => flat.slice(row * width, (row + 1) * width));
  const { dtype, data, scales } = tensor;
  return { dtype, shape: [rows, width], data: hex(data), scales: hex(scales), values };
}

/** Every field of a message as the vectors name it. @param {any} message */
export function describe(message) {
  const entries = Object.entries(message).map(([name, value]) => {
    const wireName = name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
    return [wireName, name === 'attention' && message.type === 'step' ? requestValue(value) : plain(value)];
  });
  return Object.fromEntries(entries);
}

/** @param {any} value @returns {any} */
function plain(value) {
  if (value instanceof Tensor) return describeTensor(value);
  if (value instanceof Uint8Array) return hex(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
