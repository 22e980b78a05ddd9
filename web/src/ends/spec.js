import { invalidHeadSpec } from './errors.js';

// Room for the float32 roundings of `finish`: a few units of 2^-24 each, and underflow.
const SLACK = 2 ** -20;
const UNDERFLOW = 2 ** -80;
const SMALLEST = 2 ** -20;
const LARGEST = 2 ** 20;

/**
 * What a family does to row . hidden: logit = cap(scaled(row . hidden + bias)).
 * @typedef {{bias: Float32Array | null, softcap: number | null, scale: number, divide: boolean}} Spec
 */

/**
 * Refuses a spec whose numbers or bias do not fit.
 * @param {Spec} spec @param {number} rows
 * @throws {EndsError} invalid_head_spec
 */
export function checkSpec(spec, rows) {
  for (const value of [spec.scale, spec.softcap ?? 1]) {
    if (!(value >= SMALLEST && value <= LARGEST)) throw invalidHeadSpec(`${value} is not in 2^-20..2^20`);
  }
  if (!spec.bias) return;
  if (spec.bias.length !== rows) throw invalidHeadSpec(`a bias of ${spec.bias.length} for ${rows} rows`);
  if (!spec.bias.every(Number.isFinite)) throw invalidHeadSpec('bias holds NaN or infinity');
}

/**
 * Logits of values of row . hidden + bias, in float32: scale, then cap. Does not decrease.
 * @param {Spec} spec @param {Float32Array} biased
 * @returns {Float32Array} a new array where something changes
 */
export function finishBiased(spec, biased) {
  const scale = Math.fround(spec.scale);
  const cap = spec.softcap === null ? null : Math.fround(spec.softcap);
  if (scale === 1 && cap === null) return biased;
  return Float32Array.from(biased, (value) => {
    const scaled = Math.fround(spec.divide ? value / scale : value * scale);
    return cap === null ? scaled : Math.fround(Math.tanh(Math.fround(scaled / cap))) * cap;
  });
}

/**
 * The lowest row . hidden + bias whose logit can round to that of `biased` or higher: equal logits rank by
 * id, so whoever keeps rows above `biased` keeps these too.
 * @param {Spec} spec @param {number} biased
 */
export function lowestRival(spec, biased) {
  const floor = biased - Math.abs(biased) * SLACK - UNDERFLOW;
  if (spec.softcap === null || !Number.isFinite(floor)) return floor;
  const factor = factorOf(spec);
  let capped = Math.tanh((floor * factor) / spec.softcap);
  capped -= Math.abs(capped) * SLACK;
  if (capped <= -1) return -Infinity;
  return Math.min(floor, (Math.atanh(capped) * spec.softcap) / factor);
}

/** What row . hidden + bias is multiplied by. @param {Spec} spec */
export function factorOf(spec) {
  return spec.divide ? 1 / spec.scale : spec.scale;
}
