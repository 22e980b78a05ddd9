// Where the numbers of an adapter's product sit in polynomials, and at which scales: common/split_he/layout.py.
import { Real } from '../protocol/msgpack.js';
import { AdapterHostInvalid } from './errors.js';
import { HALF_Q, N } from './params.js';

const MAX_HIDDEN = 8192;
const MAX_RANK = 64;
const MOST_CHUNKS = 64;
const SCALES = /** @type {const} */ (['input_scale', 'weight_scale', 'norm_bound']);
const SHAPE = /** @type {const} */ (['hidden', 'rank', 'chunks', 'groups', 'chunk']);

/**
 * What both sides agree on. `chunks` ciphertexts go up, `groups` come down; `chunk` numbers of a hidden state lie in one
 * polynomial; `normBound` is the largest norm of a hidden state.
 * @typedef {{hidden: number, rank: number, chunks: number, groups: number, chunk: number, inputScale: number,
 *   weightScale: number, normBound: number}} Packing
 */

/**
 * A host's document, distrusted: all of it follows from shape and scales.
 * @param {unknown} document as readMsgpack gives it
 * @param {{hidden: number, rank: number}} shape what the host's list says
 * @returns {Packing}
 * @throws {AdapterHostInvalid}
 */
export function parsePacking(document, { hidden, rank }) {
  if (!(document instanceof Map)) throw new AdapterHostInvalid('its packing is not a map');
  const names = [...SHAPE, ...SCALES];
  if (document.size !== names.length || !names.every((name) => document.has(name))) {
    throw new AdapterHostInvalid('its packing has other fields');
  }
  for (const name of SHAPE) {
    if (Number.isInteger(document.get(name))) continue;
    throw new AdapterHostInvalid(`${name} of its packing is no whole number`);
  }
  const [inputScale, weightScale, normBound] = SCALES.map((name) => scaleIn(document.get(name), name));
  if (document.get('hidden') !== hidden || document.get('rank') !== rank) {
    throw new AdapterHostInvalid('its packing is for another shape than its list says');
  }
  if (inputScale * normBound >= HALF_Q) throw new AdapterHostInvalid('its input scale lets a hidden state wrap');
  const places = placesOf(hidden, rank);
  if (SHAPE.slice(2).some((name) => document.get(name) !== places[/** @type {keyof typeof places} */ (name)])) {
    throw new AdapterHostInvalid('chunks, groups or chunk of its packing are not those of this shape');
  }
  return { hidden, rank, ...places, inputScale, weightScale, normBound };
}

/** @param {unknown} value @param {string} name @returns {number} */
function scaleIn(value, name) {
  // NaN fails both comparisons.
  if (!(value instanceof Real && value.value > 2 ** -100 && value.value < 2 ** 100)) {
    throw new AdapterHostInvalid(`${name} of its packing is out of range`);
  }
  return value.value;
}

/**
 * The places with the fewest bytes: u up and 2 v down, then the fewest products.
 * @param {number} hidden 1..8192 @param {number} rank 1..64
 * @throws {AdapterHostInvalid}
 */
export function placesOf(hidden, rank) {
  if (!(hidden >= 1 && hidden <= MAX_HIDDEN && rank >= 1 && rank <= MAX_RANK)) {
    throw new AdapterHostInvalid(`adapters of ${rank} by ${hidden} numbers cannot be encrypted`);
  }
  /** @type {number[]} */
  let best = [];
  for (let chunks = Math.ceil(hidden / N); chunks <= Math.min(hidden, MOST_CHUNKS); chunks++) {
    const chunk = Math.ceil(hidden / chunks);
    const groups = Math.ceil(rank / Math.floor(N / chunk));
    const one = [chunks + 2 * groups, chunks * groups, chunks, groups, chunk];
    if (!best.length || isBefore(one, best)) best = one;
  }
  const [, , chunks, groups, chunk] = best;
  return { chunks, groups, chunk };
}

/** @param {number[]} one @param {number[]} other of as many numbers */
function isBefore(one, other) {
  const at = one.findIndex((value, i) => value !== other[i]);
  return at >= 0 && one[at] < other[at];
}

/** Coefficients of a group's polynomial that carry results. @param {Packing} packing @param {number} group */
export function placesIn({ rank, chunk }, group) {
  const each = Math.floor(N / chunk);
  const count = Math.min(each, rank - group * each);
  return Array.from({ length: count }, (_, i) => (i + 1) * chunk - 1);
}

/** @param {Packing} one @param {Packing} other */
export function isSamePacking(one, other) {
  return Object.entries(one).every(([name, value]) => other[/** @type {keyof Packing} */ (name)] === value);
}
