/**
 * Which units of a chat are dropped so that the rest fits. The system message, the first message and the last turn are
 * immune, and so is what is pinned. Units go until the rest has about three quarters of the budget: a cut has
 * everything behind it sent again, so that many small ones would cost more than a large one.
 */
import { CodePoints } from './code_points.js';
import { joined } from './ranges.js';
import { turnsOf } from './travelling.js';
import { unitsOf } from './units.js';

/** @typedef {import('../types').Kept} Kept */
/** @typedef {import('./units.js').Unit} Unit */
/** The number of a message, from 0, and one of its units. @typedef {{index: number, unit: Unit}} Place */
/**
 * `chat` with more dropped: `units` of them, so that `tokens` are left.
 * @typedef {{chat: Kept[], units: number, tokens: number}} Pruned
 */

const KEPT = [3, 4];

/** Tokens that pruning leaves of a budget. @param {number} budget */
export function targetOf(budget) {
  return Math.floor((budget * KEPT[0]) / KEPT[1]);
}

/** What a policy may drop, the oldest first. @param {readonly Kept[]} chat @returns {Place[]} */
export function candidates(chat) {
  const immune = immuneIn(chat);
  return chat.flatMap((message, index) =>
    immune.has(index) || message.pinned ? [] : unitsLeft(message).map((unit) => ({ index, unit })),
  );
}

/** Units of a message of which something travels, in order. @param {Kept} message @returns {Unit[]} */
export function unitsLeft(message) {
  const { dropped = [] } = message;
  let next = 0;
  return unitsOf(message).filter(({ start, stop }) => {
    while (next < dropped.length && dropped[next][1] < stop) next += 1;
    return next >= dropped.length || dropped[next][0] > start;
  });
}

/**
 * `chat` without the first units of `order`, until `count` of it is at most `target`, or none is left.
 * @param {readonly Kept[]} chat @param {readonly Place[]} order
 * @param {(chat: Kept[]) => Promise<number> | number} count tokens of all that travels
 * @param {(text: string) => number} tokens about how many a text has
 * @param {number} target @param {number} before tokens of `chat`
 * @returns {Promise<Pruned>}
 */
export async function pruned(chat, order, count, tokens, target, before) {
  const texts = chat.map(({ content }) => new CodePoints(content));
  const sizeOf = (/** @type {Place} */ { index, unit }) => tokens(texts[index].slice(unit.start, unit.stop));
  let [now, left, taken, times] = [[...chat], before, 0, 1];
  // Tokens that are counted one unit at a time are not quite those of the whole, and a mark that stays has some as
  // well. Twice as many go each time, so that there are few rounds.
  while (left > target && taken < order.length) {
    const next = enough(order, taken, sizeOf, times * (left - target));
    now = without(now, order.slice(taken, next));
    [taken, times] = [next, 2 * times];
    left = await count(now);
  }
  return { chat: now, units: taken, tokens: left };
}

/** `chat` with `places` dropped as well. @param {readonly Kept[]} chat @param {readonly Place[]} places @returns {Kept[]} */
export function without(chat, places) {
  /** @type {Map<number, import('../types').Range[]>} */
  const more = new Map();
  for (const { index, unit } of places) {
    if (!more.has(index)) more.set(index, []);
    more.get(index)?.push([unit.start, unit.stop]);
  }
  return chat.map((message, index) => {
    const added = more.get(index);
    return added ? { ...message, dropped: joined([...(message.dropped ?? []), ...added]) } : message;
  });
}

/** Where `order` has `wanted` tokens behind `from`. @param {readonly Place[]} order @param {number} from
 * @param {(place: Place) => number} sizeOf @param {number} wanted */
function enough(order, from, sizeOf, wanted) {
  let at = from;
  for (let left = wanted; left > 0 && at < order.length; at += 1) left -= sizeOf(order[at]);
  return at;
}

/** Numbers of the messages that no policy drops. @param {readonly Kept[]} chat @returns {Set<number>} */
export function immuneIn(chat) {
  const turns = turnsOf(chat.map((message, index) => ({ index, message })));
  const first = chat.findIndex(({ role }) => role === 'user');
  const last = turns[turns.length - 1] ?? [];
  const system = chat.flatMap(({ role }, index) => (role === 'system' ? [index] : []));
  return new Set([...system, ...(first < 0 ? [] : [first]), ...last.map(({ index }) => index)]);
}
