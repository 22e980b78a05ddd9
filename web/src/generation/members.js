import { PREFIX } from './prefix.js';
import { only, rank, rankedThrough } from './ranking.js';

/** @typedef {import('../../types/gatelink.d.ts').LMHead} LMHead */
/** @typedef {import('./processors.js').AffectedTokens} AffectedTokens */
/** @typedef {import('./token_set.js').TokenSet} TokenSet */
/** @typedef {import('./ranking.js').Ranked} Ranked */

/**
 * The first `k` members of `among` by (-adjusted logit, id), exactly; fewer where there are fewer.
 * @param {LMHead} head
 * @param {Float32Array} hidden
 * @param {AffectedTokens} affected
 * @param {TokenSet} among
 * @param {number} k
 * @returns {Promise<Ranked>}
 */
export async function firstMembers(head, hidden, affected, among, k) {
  if (among.members !== null) return ofFew(head, hidden, affected, among.members, k);
  const found = k < among.size ? await ofTop(head, hidden, affected, among, k) : null;
  return found ?? ofAll(head, hidden, affected, among, k);
}

/**
 * From the members' own logits alone.
 * @param {LMHead} head @param {Float32Array} hidden @param {AffectedTokens} affected
 * @param {Int32Array} members @param {number} k
 */
async function ofFew(head, hidden, affected, members, k) {
  const { alsoLogits } = await head.top(hidden, 0, members);
  const logits = Float64Array.from(alsoLogits);
  const places = new Map();
  for (let i = 0; i < members.length; i++) places.set(members[i], i);
  affected.ids.forEach((id, index) => {
    const place = places.get(id);
    if (place !== undefined) logits[place] = affected.adjust(index, alsoLogits[place]);
  });
  return rank(members, logits, k);
}

/**
 * From the first of all tokens, or null where fewer than `k` members are among these.
 * @param {LMHead} head @param {Float32Array} hidden @param {AffectedTokens} affected @param {TokenSet} among
 * @param {number} k
 */
async function ofTop(head, hidden, affected, among, k) {
  const top = await head.top(hidden, Math.max(k, PREFIX), affected.ids);
  if (top.ids.length === 0) return null;
  const { ranked } = rankedThrough(top, affected.ids, affected.adjusted(top.alsoLogits));
  const found = only(ranked, among.mask);
  return found.ids.length < k ? null : { ids: found.ids.slice(0, k), logits: found.logits.slice(0, k) };
}

/**
 * @param {LMHead} head @param {Float32Array} hidden @param {AffectedTokens} affected @param {TokenSet} among
 * @param {number} k
 */
async function ofAll(head, hidden, affected, among, k) {
  const own = await head.logits(hidden);
  const logits = Float64Array.from(own);
  affected.ids.forEach((id, index) => (logits[id] = affected.adjust(index, own[id])));
  const all = only({ ids: Int32Array.from(logits.keys()), logits }, among.mask);
  return rank(all.ids, all.logits, k);
}
