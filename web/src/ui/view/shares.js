// One row of attention, spread over the spans of a chat; the same as split_client.chat.attended in Python.

/** @typedef {import('../../engine/messages.js').Span} Span */
/**
 * Shares of one row, which together are 1. `spans`: of each span, 0 for those of the template; `first`: of
 * the first position, which takes what no token needs (an attention sink: Xiao et al. 2023, "Efficient
 * Streaming Language Models with Attention Sinks") and is left out of the spans; `template`: of what stands
 * between the messages.
 * @typedef {{spans: Float64Array, first: number, template: number, strongest: number}} Shares
 */

/** Of the largest share: a level begins at each, as in the terminal's picture. */
export const BEGINNINGS = [0.03, 0.08, 0.2, 0.5];

/**
 * @param {Float32Array} row
 * @param {Span[]} spans
 * @returns {Shares}
 */
export function sharesOf(row, spans) {
  // A server may send zeros.
  const sum = row.reduce((total, weight) => total + weight, 0) || 1;
  const shares = new Float64Array(spans.length);
  let [told, strongest] = [0, 0];
  spans.forEach(({ start, stop, kind }, i) => {
    if (kind === 'template' || kind === 'control') return;
    for (let at = Math.max(1, start); at < Math.min(stop, row.length); at++) shares[i] += row[at] / sum;
    told += shares[i];
    strongest = Math.max(strongest, shares[i]);
  });
  const first = row.length ? row[0] / sum : 0;
  return { spans: shares, first, template: Math.max(0, 1 - first - told), strongest };
}

/** 0 to 4. @param {number} share @param {number} strongest */
export function levelOf(share, strongest) {
  let level = 0;
  while (level < BEGINNINGS.length && share >= BEGINNINGS[level] * strongest) level += 1;
  return strongest > 0 ? level : 0;
}

/**
 * Numbers of the spans with the largest shares above 0, largest first, equal ones in order.
 * @param {Shares} shares @param {number} count
 */
export function most({ spans }, count) {
  /** @type {number[]} */
  const found = [];
  for (let i = 0; i < spans.length; i++) {
    if (!(spans[i] > 0) || (found.length === count && spans[i] <= spans[found[count - 1]])) continue;
    const place = found.findIndex((each) => spans[i] > spans[each]);
    found.splice(place < 0 ? found.length : place, 0, i);
    found.length = Math.min(found.length, count);
  }
  return found;
}
