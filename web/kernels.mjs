// Compiles the kernels of wasm/ to WebAssembly.
import { main as compile } from 'assemblyscript/asc';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const FIXED = ['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', '--baseDir', HERE];
/** @type {Record<string, string[]>} */
const KERNELS = {
  'kernels.wasm': ['wasm/kernels.ts', '--enable', 'simd'],
  'kernels-relaxed.wasm': ['wasm/kernels_relaxed.ts', '--enable', 'simd,relaxed-simd'],
  'ring.wasm': ['wasm/ring.ts'],
};

/** Names of the modules. */
export const KERNEL_NAMES = Object.keys(KERNELS);

/** Writes the module `name` to the file `target`. @param {string} name @param {string} target */
export async function compileKernel(name, target) {
  const [source, ...options] = KERNELS[name];
  const { error, stderr } = await compile([source, '-o', relative(HERE, target), ...FIXED, ...options]);
  if (error) throw new Error(`${source}: ${stderr.toString()}`);
}
