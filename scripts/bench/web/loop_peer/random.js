// Weights and hidden states that are the same in every worker of a run.

/** xorshift32. @param {number} seed @returns {() => number} 32 random bits */
export function bits(seed) {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** @param {number} count @param {number} seed @returns {Float32Array} standard normal */
export function normal(count, seed) {
  const next = bits(Math.imul(seed + 1, 0x9e3779b1));
  for (let i = 0; i < 16; i++) next();
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log((next() + 1) / 2 ** 32));
    return radius * Math.cos((2 * Math.PI * next()) / 2 ** 32);
  });
}

/** Of a finite number in f16's range, cut to f16. @param {number} value */
export function toHalf(value) {
  const [word] = new Uint32Array(Float32Array.of(value * 2 ** -112).buffer);
  return ((word >>> 16) & 0x8000) | ((word >>> 13) & 0x7fff);
}

/** All 65,536 values of f16. */
export function halves() {
  return Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return exponent ? sign * (1 + fraction / 1024) * 2 ** (exponent - 15) : sign * fraction * 2 ** -24;
  });
}

/** Keeps the first `k` by falling sum. */
export function insert(top, entry, k) {
  if (top.length === k && entry.sum <= top[k - 1].sum) return;
  const at = top.findIndex(({ sum }) => sum < entry.sum);
  top.splice(at < 0 ? top.length : at, 0, entry);
  if (top.length > k) top.pop();
}
