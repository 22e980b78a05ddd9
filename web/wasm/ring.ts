// The ring of encrypted adapters, Z_Q[x] / (x^N + 1): transform, products, sampling and packing, exactly as
// common/split_he defines them (docs/ckks.md); tests/vectors/he.json drives both.
//
// A polynomial is 2,048 numbers of 64 bits, centred modulo Q unless said. All pointers are byte offsets into the
// imported memory; the host lays it out.
import { centre, centred, quotient, residue, times, timesLoosely } from './modular';
import { squeeze } from './sponge';

export { begin } from './sponge';

const BITS: i32 = 11;
const N: usize = 2048;
const POLYNOMIAL: usize = N << 3;
/** The smallest primitive root of order 2 N. */
const ROOT: i64 = 2604308523238;
/** 1 / N modulo Q, centred. */
const ONE_OF_N: i64 = -8796093022170;
const MODULUS: u64 = 18014398509404161;
const GROUP: usize = 4;
const GROUP_BYTES: usize = 27;
const MASK: u64 = (1 << 54) - 1;
const ERROR_LIMIT: i64 = 21;

// Powers of the root in bit-reversed order, those of its inverse, and both as quotients by Q.
let roots: usize = 0;
let inverses: usize = 0;

/** Makes the tables, four polynomials long, at `at`. */
export function prepare(at: usize): void {
  roots = at;
  inverses = at + 2 * POLYNOMIAL;
  powers(roots, ROOT);
  // The N-th power of the root is -1, so its last one here is the negative of its inverse.
  powers(inverses, -load<i64>(roots + POLYNOMIAL - 8));
}

function powers(at: usize, root: i64): void {
  const overQ = quotient(root);
  let value: i64 = 1;
  for (let exponent: usize = 0; exponent < N; exponent++) {
    const place = at + (reversed(exponent) << 3);
    store<i64>(place, value);
    store<f64>(place + POLYNOMIAL, quotient(value));
    value = times(value, root, overQ);
  }
}

function reversed(index: usize): usize {
  let made: usize = 0;
  for (let bit = 0; bit < BITS; bit++) made = (made << 1) | ((index >> bit) & 1);
  return made;
}

function centreAll(at: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8) store<i64>(at, centre(load<i64>(at)));
}

/** Coefficients as values at the roots, in bit-reversed order (Longa and Naehrig 2016, algorithm 1). */
export function forward(at: usize): void {
  // A butterfly takes numbers within k Q to numbers within (4.51 k + 1) Q: four stages end below 330 Q.
  for (let stage = 0; stage < BITS; stage++) {
    const groups: usize = 1 << stage;
    const distance = POLYNOMIAL >> (stage + 1);
    for (let group: usize = 0, low = at; group < groups; group++, low += distance) {
      const root = roots + ((groups + group) << 3);
      const factor = load<i64>(root);
      const overQ = load<f64>(root + POLYNOMIAL);
      for (const end = low + distance; low < end; low += 8) {
        const even = load<i64>(low);
        const odd = timesLoosely(load<i64>(low + distance), factor, overQ);
        store<i64>(low, even + odd);
        store<i64>(low + distance, even - odd);
      }
    }
    if ((stage & 3) == 3) centreAll(at);
  }
  centreAll(at);
}

/** The coefficients of what `forward` gave (algorithm 2 there). */
export function inverse(at: usize): void {
  // A butterfly takes numbers within k Q to numbers within (7.02 k + 1) Q: three stages end below 235 Q.
  for (let stage = BITS - 1; stage >= 0; stage--) {
    const groups: usize = 1 << stage;
    const distance = POLYNOMIAL >> (stage + 1);
    for (let group: usize = 0, low = at; group < groups; group++, low += distance) {
      const root = inverses + ((groups + group) << 3);
      const factor = load<i64>(root);
      const overQ = load<f64>(root + POLYNOMIAL);
      for (const end = low + distance; low < end; low += 8) {
        const even = load<i64>(low);
        const odd = load<i64>(low + distance);
        store<i64>(low, even + odd);
        store<i64>(low + distance, timesLoosely(even - odd, factor, overQ));
      }
    }
    if (stage % 3 == 2) centreAll(at);
  }
  const overQ = quotient(ONE_OF_N);
  for (const end = at + POLYNOMIAL; at < end; at += 8) store<i64>(at, times(load<i64>(at), ONE_OF_N, overQ));
}

/** What `multiply` wants of a factor, behind it: its quotients by Q. */
export function asFactor(at: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8) store<f64>(at + POLYNOMIAL, quotient(load<i64>(at)));
}

/** Values at the roots, multiplied in place with those of a factor. */
export function multiply(at: usize, factor: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8, factor += 8) {
    store<i64>(at, times(load<i64>(at), load<i64>(factor), load<f64>(factor + POLYNOMIAL)));
  }
}

/** Adds another polynomial in place. */
export function add(at: usize, other: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8, other += 8) {
    store<i64>(at, centre(load<i64>(at) + load<i64>(other)));
  }
}

/** Takes another polynomial away in place. */
export function subtract(at: usize, other: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8, other += 8) {
    store<i64>(at, centre(load<i64>(at) - load<i64>(other)));
  }
}

/** `count` float32 at `source`, rounded at a scale (ties to even), as the first coefficients; zeros behind them. */
export function encode(source: usize, count: usize, scale: f64, at: usize): void {
  memory.fill(at, 0, POLYNOMIAL);
  for (const end = at + (count << 3); at < end; at += 8, source += 4) {
    store<i64>(at, <i64>nearest<f64>(<f64>load<f32>(source) * scale));
  }
}

/** Adds centred binomial errors, 42 bits each of three lists of 16-bit words. */
export function addErrors(first: usize, second: usize, third: usize, at: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += 8, first += 2, second += 2, third += 2) {
    const words = (<u64>load<u16>(first) << 26) | (<u64>load<u16>(second) << 10) | (<u64>load<u16>(third) & 0x3ff);
    store<i64>(at, load<i64>(at) + <i64>popcnt<u64>(words) - ERROR_LIMIT);
  }
}

/** Numbers -1, 0, 1 of random bytes, behind the first `filled`; how many there are then. */
export function ternary(bytes: usize, count: usize, at: usize, filled: usize): usize {
  for (const end = bytes + count; bytes < end && filled < N; bytes++) {
    const drawn = load<u8>(bytes);
    if (drawn == 255) continue;
    store<i64>(at + (filled << 3), <i64>(drawn % 3) - 1);
    filled++;
  }
  return filled;
}

/** Writes a polynomial as residues of 54 bits, four in 27 bytes, little endian. */
export function pack(at: usize, target: usize): void {
  for (const end = at + POLYNOMIAL; at < end; at += GROUP << 3, target += GROUP_BYTES) {
    const r0 = residue(load<i64>(at));
    const r1 = residue(load<i64>(at, 8));
    const r2 = residue(load<i64>(at, 16));
    const r3 = residue(load<i64>(at, 24));
    store<u64>(target, r0 | (r1 << 54));
    store<u64>(target, (r1 >> 10) | (r2 << 44), 8);
    store<u64>(target, (r2 >> 20) | (r3 << 34), 16);
    store<u16>(target, <u16>(r3 >> 30), 24);
    store<u8>(target, <u8>(r3 >> 46), 26);
  }
}

/** Four numbers of 54 bits. */
function unpackGroup(source: usize, target: usize): void {
  const w0 = load<u64>(source);
  const w1 = load<u64>(source, 8);
  const w2 = load<u64>(source, 16);
  const w3 = <u64>load<u16>(source, 24) | (<u64>load<u8>(source, 26) << 16);
  store<u64>(target, w0 & MASK);
  store<u64>(target, ((w0 >> 54) | (w1 << 10)) & MASK, 8);
  store<u64>(target, ((w1 >> 44) | (w2 << 20)) & MASK, 16);
  store<u64>(target, ((w2 >> 34) | (w3 << 30)) & MASK, 24);
}

/** Reads what `pack` wrote; false where a residue is not below Q. */
export function unpack(source: usize, at: usize): bool {
  let good = true;
  for (const end = at + POLYNOMIAL; at < end; at += GROUP << 3, source += GROUP_BYTES) {
    unpackGroup(source, at);
    for (let i: usize = 0; i < GROUP << 3; i += 8) {
      const value = load<u64>(at + i);
      good = good && value < MODULUS;
      store<i64>(at + i, centred(value));
    }
  }
  return good;
}

// A group of the stream of uniform numbers, and how many of its four were taken.
let group: usize = 0;
let used: usize = GROUP;

/** Has `uniform` begin with a new group of the stream, for which there are 64 bytes at `at`. */
export function align(at: usize): void {
  group = at;
  used = GROUP;
}

/** The next numbers of the stream that are below Q. */
export function uniform(at: usize): void {
  const end = at + POLYNOMIAL;
  while (at < end) {
    if (used == GROUP) {
      squeeze(group, GROUP_BYTES);
      unpackGroup(group, group + 32);
      used = 0;
    }
    const value = load<u64>(group + 32 + (used << 3));
    used++;
    if (value >= MODULUS) continue;
    store<i64>(at, centred(value));
    at += 8;
  }
}
