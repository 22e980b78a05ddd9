// The one order of tokens: by (-logit, id).

/** @typedef {import('../../types/gatelink.d.ts').TopLogits} TopLogits */
/** @typedef {{ids: Int32Array, logits: Float64Array}} Ranked by falling logit, equal logits by rising id */

/**
 * The first `k` of `ids` [n] with `logits` [n]. A heap of the k best, sorted in place: n log k steps.
 * @param {Int32Array} ids no id twice
 * @param {Float64Array} logits
 * @param {number} [k]
 * @returns {Ranked}
 */
export function rank(ids, logits, k = ids.length) {
  const kept = Math.max(0, Math.min(k, ids.length));
  const heap = new Int32Array(kept);
  for (let i = 0; i < kept; i++) heap[i] = i;
  for (let i = (kept >> 1) - 1; i >= 0; i--) sink(heap, i, kept, ids, logits);
  if (kept > 0) {
    for (let i = kept; i < ids.length; i++) {
      if (!isBefore(i, heap[0], ids, logits)) continue;
      heap[0] = i;
      sink(heap, 0, kept, ids, logits);
    }
  }
  for (let end = kept - 1; end > 0; end--) {
    const last = heap[0];
    heap[0] = heap[end];
    heap[end] = last;
    sink(heap, 0, end, ids, logits);
  }
  return taken(heap, ids, logits);
}

/**
 * What is certain of the ranking of the whole vocabulary, given its first ones outside `ids` and the logits
 * of `ids`: all up to the last of `top`. `behind` are the logits of those of `ids` that come later.
 * @param {TopLogits} top not empty
 * @param {Int32Array} ids
 * @param {Float64Array} logits
 * @returns {{ranked: Ranked, behind: Ranked}} `behind` is in no order
 */
export function rankedThrough(top, ids, logits) {
  const count = top.ids.length;
  const [allIds, allLogits] = joined(top, ids, logits);
  /** @type {number[]} */
  const ahead = [];
  /** @type {number[]} */
  const later = [];
  for (let i = 0; i < ids.length; i++) {
    (isBefore(count + i, count - 1, allIds, allLogits) ? ahead : later).push(count + i);
  }
  const certain = new Int32Array(count + ahead.length);
  for (let i = 0; i < count; i++) certain[i] = i;
  certain.set(ahead, count);
  const first = taken(certain, allIds, allLogits);
  return { ranked: rank(first.ids, first.logits), behind: taken(Int32Array.from(later), allIds, allLogits) };
}

/**
 * Top logits and others as one pair of arrays, the top first.
 * @param {TopLogits} top
 * @param {Int32Array} ids
 * @param {Float64Array} logits
 * @returns {[Int32Array, Float64Array]}
 */
export function joined(top, ids, logits) {
  const count = top.ids.length;
  const allIds = new Int32Array(count + ids.length);
  const allLogits = new Float64Array(count + ids.length);
  allIds.set(top.ids);
  allIds.set(ids, count);
  allLogits.set(top.logits);
  allLogits.set(logits, count);
  return [allIds, allLogits];
}

/**
 * Those whose id is set in `mask`, in the same order.
 * @param {Ranked} ranked
 * @param {Uint8Array} mask
 * @returns {Ranked}
 */
export function only(ranked, mask) {
  const places = [];
  for (let i = 0; i < ranked.ids.length; i++) if (mask[ranked.ids[i]]) places.push(i);
  return taken(Int32Array.from(places), ranked.ids, ranked.logits);
}

/** @param {Int32Array} places @param {Int32Array} ids @param {Float64Array} logits @returns {Ranked} */
function taken(places, ids, logits) {
  const chosen = { ids: new Int32Array(places.length), logits: new Float64Array(places.length) };
  for (let i = 0; i < places.length; i++) {
    chosen.ids[i] = ids[places[i]];
    chosen.logits[i] = logits[places[i]];
  }
  return chosen;
}

/**
 * Restores the heap below `from`: every place comes after (by rank) neither of its children, so the root is
 * the last.
 * @param {Int32Array} heap @param {number} from @param {number} size
 * @param {Int32Array} ids @param {Float64Array} logits
 */
function sink(heap, from, size, ids, logits) {
  const moving = heap[from];
  let hole = from;
  for (let child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && isBefore(heap[child], heap[child + 1], ids, logits)) child++;
    if (!isBefore(moving, heap[child], ids, logits)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = moving;
}

/** @param {number} a @param {number} b @param {Int32Array} ids @param {Float64Array} logits */
function isBefore(a, b, ids, logits) {
  return logits[a] > logits[b] || (logits[a] === logits[b] && ids[a] < ids[b]);
}
