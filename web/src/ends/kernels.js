import { kernelUnavailable } from './errors.js';

/**
 * What wasm/kernels.ts and wasm/kernels_relaxed.ts export; arguments are described there.
 *
 * @typedef {(plane: number, rows: number, blocks: number, x: number, factors: number,
 *   target: number) => void} Estimate
 * @typedef {object} Kernels
 * @property {(dtype: number, source: number, count: number, target: number) => void} widen
 * @property {(dtype: number, source: number, count: number, length: number, hidden: number, scratch: number,
 *   target: number) => void} products
 * @property {(source: number, count: number) => number} firstNonFinite
 * @property {(dtype: number, source: number, first: number, count: number, length: number,
 *   inverse: number, scratch: number, plane: number) => number} quantise
 * @property {(source: number, bytes: number) => bigint} checksum
 * @property {(estimates: number, bias: number, rows: number) => number} addBias
 * @property {(estimates: number, rows: number, size: number, values: number, ids: number) => void} select
 * @property {(estimates: number, rows: number, factor: number, cap: number, first: number,
 *   temperature: number) => number} weightOf
 * @property {Estimate} estimate
 * @property {Estimate} [estimateByPairs]
 * @property {Estimate} [estimateByFours]
 *
 * @typedef {'auto' | 'relaxed' | 'simd'} WasmChoice
 * @typedef {WasmChoice | 'webgpu'} KernelChoice 'auto': on the GPU where that is faster
 * @typedef {(name: string) => Promise<Uint8Array<ArrayBuffer>>} ReadModule
 */

const RELAXED = 'kernels-relaxed.wasm';
const PLAIN = 'kernels.wasm';
/** @type {WasmChoice[]} */
const CHOICES = ['auto', 'relaxed', 'simd'];

/**
 * The best kernels that this browser takes, over `memory`.
 * @param {WasmChoice} choice @param {ReadModule} read @param {WebAssembly.Memory} memory
 * @returns {Promise<{kernels: Kernels, name: 'relaxed' | 'simd'}>}
 * @throws {EndsError} kernel_unavailable
 */
export async function loadKernels(choice, read, memory) {
  if (!CHOICES.includes(choice)) throw kernelUnavailable(`there is no kernel ${choice}`);
  if (choice !== 'simd') {
    const kernels = await instantiate(await read(RELAXED), memory);
    if (kernels) return { kernels, name: 'relaxed' };
    if (choice === 'relaxed') throw kernelUnavailable('it has no relaxed SIMD');
  }
  const kernels = await instantiate(await read(PLAIN), memory);
  if (!kernels) throw kernelUnavailable('it has no WebAssembly SIMD');
  return { kernels, name: 'simd' };
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes @param {WebAssembly.Memory} memory
 * @returns {Promise<Kernels | null>}
 */
async function instantiate(bytes, memory) {
  if (!WebAssembly.validate(bytes)) return null;
  const { instance } = await WebAssembly.instantiate(bytes, { env: { memory } });
  return /** @type {Kernels} */ (/** @type {unknown} */ (instance.exports));
}

/** The memory of a layout. @param {number} pages @throws {EndsError} kernel_unavailable */
export function newMemory(pages) {
  if (typeof WebAssembly === 'undefined') throw kernelUnavailable('it has no WebAssembly');
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/** Reads a module that lies beside the bundle. @type {ReadModule} */
export async function readBesideBundle(name) {
  const url = new URL(`./${name}`, import.meta.url);
  const response = await fetch(url);
  if (!response.ok) throw kernelUnavailable(`${name} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
