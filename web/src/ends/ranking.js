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

const GROUP = 16;

/**
 * The first `k` of `rank` over all ids 0..n-1.
 * @param {Float32Array} logits @param {number} k at most n
 */
export function rankAll(logits, k) {
  const floor = reachedBy(logits, k);
  const reaching = new Int32Array(logits.length);
  let count = 0;
  for (let id = 0; id < logits.length; id++) if (logits[id] >= floor) reaching[count++] = id;
  const ids = reaching.slice(0, count);
  const ranked = rank(ids, Float32Array.from(ids, (id) => logits[id]));
  return { ids: ranked.ids.slice(0, k), logits: ranked.logits.slice(0, k) };
}

/**
 * A value that at least `k` of `values` reach, close to the k-th largest: the k-th largest of the maxima of
 * groups is reached by k groups, and finding it sorts a sixteenth.
 * @param {Float32Array} values @param {number} k
 */
function reachedBy(values, k) {
  const groups = Math.ceil(values.length / GROUP);
  if (k > groups) return -Infinity;
  const maxima = new Float32Array(groups).fill(-Infinity);
  for (let i = 0, group = 0; i < values.length; i++, group++) {
    if (group === groups) group = 0;
    if (values[i] > maxima[group]) maxima[group] = values[i];
  }
  return kthLargest(maxima, k);
}

/** The k-th largest of `values`; Infinity for k = 0. @param {Float32Array} values @param {number} k */
export function kthLargest(values, k) {
  return k > 0 ? values.slice().sort()[values.length - k] : Infinity;
}
