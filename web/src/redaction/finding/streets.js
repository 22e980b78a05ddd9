// Postal addresses: a street with its number, and the place behind it.
import { RULES, pattern } from '../rules.js';

/** @typedef {import('./looked.js').Looked} Looked */
/** @typedef {import('../kinds.js').Found} Found */

/** Streets, each followed by its place where there is one; left to right by country. @param {Looked} looked @returns {Generator<Found>} */
export function* streets(looked) {
  if (!/[0-9]/.test(looked.text)) return;
  /** @type {[number, number][]} */
  const taken = [];
  for (const { name, match: source, needs } of RULES.streets) {
    // Quicker than the pattern, which has to be tried at each capital.
    if (needs && !needs.some((word) => looked.lower.includes(word))) continue;
    for (const { 0: whole, index: start } of looked.text.matchAll(pattern(source, 'g'))) {
      const end = start + whole.length;
      if (taken.some(([begun, stop]) => start < stop && begun < end)) continue;
      taken.push([start, end]);
      yield looked.found('street', plainKey(looked.lower.slice(start, end)), start, end, name);
      yield* placeAt(looked, end);
    }
  }
}

/** With one space for each run of spaces and line feeds. @param {string} lower */
export function plainKey(lower) {
  return lower.split(/[ \n]+/).filter(Boolean).join(' ');
}

/** @param {Looked} looked @param {number} at @returns {Generator<Found>} */
function* placeAt(looked, at) {
  const gap = matchAt(RULES.place_gap, looked.text, at);
  if (gap === null) return;
  for (const { name, match } of RULES.places) {
    const whole = matchAt(match, looked.text, at + gap.length);
    if (whole === null) continue;
    const [start, end] = [at + gap.length, at + gap.length + whole.length];
    yield looked.found('place', plainKey(looked.lower.slice(start, end)), start, end, name);
    return;
  }
}

/** @param {string} source @param {string} text @param {number} at @returns {string | null} */
function matchAt(source, text, at) {
  const search = pattern(source, 'y');
  search.lastIndex = at;
  return search.exec(text)?.[0] ?? null;
}
