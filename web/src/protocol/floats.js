// Floating-point formats of checkpoints and tensors: float32, bfloat16, float16. Little endian, as
// typed arrays are on every platform that a browser runs on.
//
// A bfloat16 is the upper half of the float32 with the same sign and exponent. Rounding is to
// nearest, ties to even (IEEE 754, 4.3.1).

/** @typedef {import('../../types/gatelink.js').FloatName} FloatName */

const QUIET_NAN_BF16 = 0x7fc0;
const QUIET_NAN_F16 = 0x7e00;
const INFINITY_F32 = 0x7f800000;
// 65520: the smallest float32 that rounds to infinity in float16.
const OVERFLOWS_F16 = 0x477ff000;
const SMALLEST_NORMAL_F16 = 0x38800000;
// Shifts a float16's exponent bias of 15 to the 127 of a float32.
const REBIAS = 2 ** 112;

/**
 * Bytes of one value.
 * @param {FloatName} dtype
 */
export function floatSize(dtype) {
  return dtype === 'f32' ? 4 : 2;
}

/**
 * The nearest value of a format for each element; beyond its range they become infinite.
 * @param {FloatName} dtype
 * @param {Float32Array} values any length
 * @returns {Float32Array} of the same length; `values` itself for f32
 */
export function roundTo(dtype, values) {
  return dtype === 'f32' ? values : widen(dtype, narrow(dtype, values));
}

/**
 * Stored values as float32; exact.
 * @param {FloatName} dtype
 * @param {Uint8Array} bytes n values of `dtype`, at any offset of their buffer
 * @returns {Float32Array} [n]; for f32 a view where the bytes are aligned
 */
export function widen(dtype, bytes) {
  if (dtype === 'f32') {
    const whole = aligned(bytes, 4);
    return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength / 4);
  }
  const whole = aligned(bytes, 2);
  const stored = new Uint16Array(whole.buffer, whole.byteOffset, whole.byteLength / 2);
  return dtype === 'bf16' ? widenBf16(stored) : widenF16(stored);
}

/**
 * Values as stored bytes, rounded to nearest, ties to even; beyond the range they become infinite.
 * @param {FloatName} dtype
 * @param {Float32Array} values
 * @returns {Uint8Array} a copy
 */
export function narrow(dtype, values) {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  if (dtype === 'f32') return new Uint8Array(bits.slice().buffer);
  const stored = new Uint16Array(values.length);
  if (dtype === 'bf16') narrowBf16(bits, stored);
  else narrowF16(values, bits, stored);
  return new Uint8Array(stored.buffer);
}

/** @param {Uint8Array} bytes @param {number} size */
function aligned(bytes, size) {
  return bytes.byteOffset % size === 0 ? bytes : bytes.slice();
}

/** @param {Uint16Array} stored */
function widenBf16(stored) {
  const bits = new Uint32Array(stored.length);
  for (let i = 0; i < stored.length; i++) bits[i] = stored[i] << 16;
  return new Float32Array(bits.buffer);
}

/** @param {Uint16Array} stored */
function widenF16(stored) {
  const bits = new Uint32Array(stored.length);
  const values = new Float32Array(bits.buffer);
  for (let i = 0; i < stored.length; i++) {
    const half = stored[i];
    bits[i] = ((half & 0x8000) << 16) | ((half & 0x7fff) << 13);
    if ((half & 0x7c00) === 0x7c00) bits[i] |= INFINITY_F32;
    else values[i] *= REBIAS;
  }
  return values;
}

/** @param {Uint32Array} bits @param {Uint16Array} stored */
function narrowBf16(bits, stored) {
  for (let i = 0; i < bits.length; i++) {
    const pattern = bits[i];
    stored[i] =
      (pattern & 0x7fffffff) > INFINITY_F32
        ? QUIET_NAN_BF16
        : (pattern + 0x7fff + ((pattern >>> 16) & 1)) >>> 16;
  }
}

const sumBits = new Uint32Array(1);
const sum = new Float32Array(sumBits.buffer);

/** @param {Float32Array} values @param {Uint32Array} bits @param {Uint16Array} stored */
function narrowF16(values, bits, stored) {
  for (let i = 0; i < bits.length; i++) {
    const magnitude = bits[i] & 0x7fffffff;
    const sign = (bits[i] >>> 16) & 0x8000;
    if (magnitude > INFINITY_F32) stored[i] = QUIET_NAN_F16;
    else if (magnitude >= OVERFLOWS_F16) stored[i] = sign | 0x7c00;
    else if (magnitude < SMALLEST_NORMAL_F16) {
      // Next to 0.5 a float32 steps by 2^-24, the smallest float16: the addition rounds to it.
      sum[0] = Math.abs(values[i]) + 0.5;
      stored[i] = sign | (sumBits[0] - 0x3f000000);
    } else stored[i] = sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13);
  }
}
