// tests/vectors/noise.json, which scripts/vectors/noise.py makes with the Python client's own code.
import { readFileSync } from 'node:fs';

const FILE = new URL('../../../tests/vectors/noise.json', import.meta.url);

export const vectors = JSON.parse(readFileSync(FILE, 'utf8'));

/** @param {string} hex @returns {Uint8Array} */
export const bytes = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));

/** @param {Uint8Array} data @returns {string} */
export const hexOf = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex');

/** @param {string} hex @returns {Float32Array} */
export const floats = (hex) => new Float32Array(bytes(hex).buffer);

/** @param {string} hex @returns {Float64Array} */
export const doubles = (hex) => new Float64Array(bytes(hex).buffer);

/** How far two numbers are apart, relative to the second. @param {number} a @param {number} b */
export const apart = (a, b) => (a === b ? 0 : Math.abs(a - b) / Math.abs(b));

export const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
export const MODEL = 'ab'.repeat(32);
export const TOKENS = [5, 0, 2 ** 31 - 1, 5, 5];
