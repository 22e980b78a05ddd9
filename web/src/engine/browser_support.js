import { AppError } from '../common/errors.js';

/** The browser cannot run a model's ends; told before anything of a model is downloaded. */
export class BrowserTooOld extends AppError {
  /** @param {string} missing */
  constructor(missing) {
    super(
      'browser_too_old',
      `this browser has ${missing}; Chrome 111, Firefox 114, Safari 16.4 and newer ones have what this page needs`,
    );
  }
}

// (module (func (result v128) (i8x16.popcnt (i8x16.splat (i32.const 0))))): one instruction that every
// engine with SIMD has (WebAssembly Core 2.0).
const SIMD = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
);

/**
 * Asks a worker's scope for what no chat goes without.
 * @param {{WebAssembly?: Pick<typeof WebAssembly, 'validate'>, Worker?: unknown}} [scope]
 * @throws {BrowserTooOld}
 */
export function requireAble(scope = globalThis) {
  if (!scope.WebAssembly) throw new BrowserTooOld('no WebAssembly, or it is switched off');
  if (!scope.WebAssembly.validate(SIMD)) throw new BrowserTooOld('WebAssembly without SIMD');
  if (!scope.Worker) throw new BrowserTooOld('no workers that start workers');
}
