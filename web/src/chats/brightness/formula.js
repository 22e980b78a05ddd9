// Brightness of a chat's tokens: what each row of attention adds to it, and takes from it. The rule and its reasons are
// in docs/brightness.md, what it gives in tests/vectors/brightness.json: whole numbers alone, none above 2^53.
import { BrightnessInvalid } from '../errors.js';

/**
 * What one token of a reply looked at: `shares` of ONE of `positions`, each named once, of the `length` that were there;
 * of others it is not known, and counts as nothing.
 * @typedef {{positions: ArrayLike<number>, shares: ArrayLike<number>, length: number}} Row
 */

/** A share of 1. */
export const ONE = 2 ** 24;
/** Positions that a row may be over. */
export const MOST_POSITIONS = 2 ** 23;
export const BRIGHTEST = 65535;
/** What a token begins with. */
export const BORN = 32768;
/** A uniform share, in the unit of votes; a vote counts what is above it, up to so much. */
export const UNIFORM = 64;
export const MOST_VOTE = 16 * UNIFORM;
/** Brightness for a vote of one uniform share. */
export const GAIN = 256;
/** At that distance a vote counts half. */
export const NEAR = 64;
/** What a token loses for each row that does not vote for it. */
export const FALL = 8;

/**
 * Votes for each position of a row. The first position has none: it takes the attention that no token needs. Shares are
 * those of what is left without it.
 * @param {Row} row @returns {number[]}
 */
export function votes({ positions, shares, length }) {
  const others = Array.from(shares, (share, i) => (positions[i] > 0 ? share : 0));
  const left = Math.max(1, others.reduce((sum, share) => sum + share, 0));
  return others.map((share) => {
    const lift = Math.floor((share * (length - 1) * UNIFORM) / left);
    return Math.min(Math.max(lift - UNIFORM, 0), MOST_VOTE);
  });
}

/**
 * Has the brightness of the first tokens of a context be that after `row`, whose other positions are immune: those of
 * the turn that the reply belongs to.
 * @param {Int32Array} brightness @param {Row} row
 * @throws {BrightnessInvalid} for more tokens than the row is over
 */
export function look(brightness, row) {
  const { positions, length } = row;
  if (brightness.length > length || length > MOST_POSITIONS) {
    throw new BrightnessInvalid('a row of attention is over fewer positions than there are tokens');
  }
  const gains = votes(row).map((vote, i) => gainOf(vote, length - positions[i]));
  const seen = Array.from(positions, (position) => brightness[position]);
  for (let i = 1; i < brightness.length; i++) brightness[i] = Math.max(0, brightness[i] - FALL);
  for (let i = 0; i < positions.length; i++) {
    const gain = gains[i];
    if (gain === null || positions[i] >= brightness.length) continue;
    brightness[positions[i]] = Math.min(BRIGHTEST, seen[i] + gain);
  }
}

/** @param {number} vote @param {number} distance @returns {number | null} null: there is no vote */
function gainOf(vote, distance) {
  return vote > 0 ? Math.floor((vote * GAIN * distance) / ((distance + NEAR) * UNIFORM)) : null;
}
