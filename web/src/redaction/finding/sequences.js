// Runs of digits with gaps between them, cut into groups at the gaps.
import { RULES } from '../rules.js';
import { MOST_GAP } from '../squeezed.js';

/** Digits without a gap. @typedef {{digits: string, start: number, end: number}} Group */

const GROUP = '[0-9]+(?![0-9A-Za-z])';
const RUNS = { gap: runs(RULES.gap), phone_gap: runs(RULES.phone_gap) };

/**
 * The longest runs; a group that an ASCII letter touches is in none.
 * @param {string} text folded @param {'gap' | 'phone_gap'} gap @returns {Group[][]}
 */
export function sequences(text, gap) {
  return Array.from(text.matchAll(RUNS[gap]), ({ 0: run, index: start }) =>
    Array.from(run.matchAll(/[0-9]+/g), ({ 0: digits, index }) => {
      return { digits, start: start + index, end: start + index + digits.length };
    }),
  );
}

/** @param {string} gap */
function runs(gap) {
  return new RegExp(`(?<![0-9A-Za-z])${GROUP}(?:[${gap}]{1,${MOST_GAP}}${GROUP})*`, 'g');
}
