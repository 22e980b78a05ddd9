/** Which messages of a long chat stand in the page: as many as it can lay out at once, and others when they are asked for. */

export const MOST = 600;
const STEP = 300;

/** Messages `from` to `to` (exclusive) by their number; Infinity: with those that will come. @typedef {{from: number, to: number}} Window */

/** The newest ones. Some at a time leave as others come. @param {number} count of all @returns {Window} */
export function newest(count) {
  return { from: count <= MOST ? 0 : STEP * Math.ceil((count - MOST) / STEP), to: Infinity };
}

/** Those before, as well. @param {Window} shown @param {number} count @returns {Window} */
export function earlier({ from }, count) {
  const first = Math.max(0, from - STEP);
  return { from: first, to: endOf(first + MOST, count) };
}

/** Those behind, as well. @param {Window} shown @param {number} count @returns {Window} */
export function later({ to }, count) {
  const end = Math.min(count, to + STEP);
  return { from: Math.max(0, end - MOST), to: endOf(end, count) };
}

/** Those around one. @param {number} at @param {number} count @returns {Window} */
export function around(at, count) {
  return earlier({ from: Math.min(at + STEP / 2, Math.max(0, count - STEP)), to: count }, count);
}

/** As far as there are such messages, and as there is room for those that came. @param {Window} shown @param {number} count @returns {Window} */
export function within(shown, count) {
  const { from, to } = shown.from < count ? shown : newest(count);
  const end = Math.min(to, count);
  return { from: Math.max(from, end - MOST - STEP), to: end };
}

/** @param {number} to @param {number} count */
function endOf(to, count) {
  return to < count ? to : Infinity;
}
