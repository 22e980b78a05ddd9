/**
 * The one order of tokens: by (-logit, id).
 * @param {Int32Array} ids @param {Float32Array} logits
 * @returns {{ids: Int32Array, logits: Float32Array}}
 */
export function rank(ids, logits) {
  const order = Uint32Array.from(ids, (_, i) => i).sort(
    (a, b) => logits[b] - logits[a] || ids[a] - ids[b],
  );
  return { ids: Int32Array.from(order, (i) => ids[i]), logits: Float32Array.from(order, (i) => logits[i]) };
}

/**
 * The first `k` of `rank` over all ids 0..n-1.
 * @param {Float32Array} logits @param {number} k
 */
export function rankAll(logits, k) {
  const threshold = kthLargest(logits, k);
  /** @type {number[]} */
  const reaching = [];
  for (let id = 0; id < logits.length; id++) if (logits[id] >= threshold) reaching.push(id);
  const ids = Int32Array.from(reaching);
  const ranked = rank(ids, Float32Array.from(ids, (id) => logits[id]));
  return { ids: ranked.ids.slice(0, k), logits: ranked.logits.slice(0, k) };
}

/** The k-th largest of `values`; Infinity for k = 0. @param {Float32Array} values @param {number} k */
export function kthLargest(values, k) {
  return k > 0 ? values.slice().sort()[values.length - k] : Infinity;
}
