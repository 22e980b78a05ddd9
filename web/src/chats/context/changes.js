/**
 * A chat of which more or less travels, on the branch that is shown; others keep what they have. Messages are named by
 * their nodes, the system prompt by null.
 */
import { ChatStepInvalid } from '../errors.js';
import { SYSTEM, backAt, nodeOf, path, shownOf } from './shown.js';
import { joined, withoutRange } from './ranges.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').ChatNode} ChatNode */
/** @typedef {import('../types').Range} Range */
/** @typedef {string | null} Place */
/** What is left out of one message from now on. @typedef {readonly [Place, Range[]]} Change */

/**
 * Where the messages of a chat are kept, in the order of `kept`.
 * @param {Chat} chat @returns {Place[]}
 */
export function places(chat) {
  const ids = path(chat).map(({ id }) => id);
  return chat.system ? [null, ...ids] : ids;
}

/** What is dropped of a shown message now. @param {Chat} chat @param {Place} place @returns {Range[]} throws ChatStepInvalid */
export function droppedOf(chat, place) {
  if (place !== null) nodeOf(chat, place);
  return shownOf(chat).dropped.get(place ?? SYSTEM) ?? [];
}

/** @param {Chat} chat @param {Place} place */
export function isPinned(chat, place) {
  return (place === null ? chat.systemPinned : nodeOf(chat, place).pinned) === true;
}

/**
 * Leaves more of messages out.
 * @param {Chat} chat @param {readonly (readonly [Place, readonly Range[]])[]} more @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid
 */
export function drop(chat, more, now = Date.now()) {
  /** @type {Map<Place, Range[]>} */
  const all = new Map();
  for (const [place, ranges] of more) all.set(place, [...(all.get(place) ?? droppedOf(chat, place)), ...ranges]);
  return withDropped(chat, [...all].map(([place, ranges]) => [place, joined(ranges)]), now);
}

/** Has a message travel again, or a part of it. @param {Chat} chat @param {Place} place @param {Range} [range]
 * @param {number} [now] @returns {Chat} throws ChatStepInvalid */
export function restore(chat, place, range, now = Date.now()) {
  const dropped = droppedOf(chat, place);
  if (!dropped.length) return chat;
  return withDropped(chat, [[place, range ? withoutRange(dropped, range) : []]], now);
}

/** Has all that is shown travel again. @param {Chat} chat @param {number} [now] @returns {Chat} */
export function restoreAll(chat, now = Date.now()) {
  const dropped = places(chat).filter((place) => droppedOf(chat, place).length);
  return dropped.length ? withDropped(chat, dropped.map((place) => [place, []]), now) : chat;
}

/** Has no policy drop any of a message, or again lets them. @param {Chat} chat @param {Place} place
 * @param {boolean} pinned @param {number} [now] @returns {Chat} throws ChatStepInvalid */
export function pin(chat, place, pinned, now = Date.now()) {
  if (isPinned(chat, place) === pinned) return chat;
  if (place === null) return { ...chat, systemPinned: pinned || undefined, updated: now };
  const nodes = { ...chat.nodes, [place]: { ...nodeOf(chat, place), pinned: pinned || undefined } };
  return { ...chat, nodes, updated: now };
}

/**
 * The chat at a message of its branch, which is as it was there: what is left out stays so where the chat goes another
 * way from it.
 * @param {Chat} chat @param {string | null} leaf a message that is shown; null: before all of them
 * @returns {Chat} throws ChatStepInvalid
 */
export function turnedBack(chat, leaf) {
  const back = { ...chat, leaf };
  const [here, then] = [shownOf(chat), shownOf(back)];
  const shared = then.nodes.filter(({ id }, index) => here.nodes[index]?.id === id).map(({ id }) => id);
  const other = [SYSTEM, ...shared].filter((key) => !isSame(here.dropped.get(key), then.dropped.get(key)));
  if (!other.length) return back;
  return withDropped(back, other.map((key) => [placeOf(key), here.dropped.get(key) ?? []]), chat.updated);
}

/**
 * What is left out of shown messages, in place of what is. Other branches with the same messages keep what they have.
 * @param {Chat} chat @param {readonly Change[]} changes @param {number} [now] @returns {Chat} throws ChatStepInvalid
 */
export function withDropped(chat, changes, now = Date.now()) {
  const shown = shownOf(chat);
  const at = new Map(shown.nodes.map(({ id }, index) => [id, index]));
  const leaving = waysOff(chat, shown.nodes);
  const notes = new Notes();
  const next = { ...chat, nodes: { ...chat.nodes }, updated: now };
  for (const [place, ranges] of changes) {
    if (place !== null && !at.has(place)) throw new ChatStepInvalid('this message is not shown');
    const key = place ?? SYSTEM;
    const holder = shown.holders.get(key) ?? key;
    const before = shown.dropped.get(key) ?? [];
    for (const { id, from } of leaving) if (from > (at.get(holder) ?? -1)) notes.add(next, id, key, before, false);
    if (holder !== key) notes.add(next, holder, key, ranges, true);
    else put(next, place, ranges);
  }
  return next;
}

/**
 * The same on the branch that an earlier state of the chat shows, or what it has become; the chat stays where it is.
 * @param {Chat} chat @param {Chat} asked @param {readonly Change[]} changes of shown messages of `asked`
 * @returns {Chat} throws ChatStepInvalid, also where the chat has become another one
 */
export function withDroppedAt(chat, asked, changes) {
  const there = backAt(chat, asked);
  const goesOn = asked.leaf === null || path(chat).some(({ id }) => id === asked.leaf);
  const changed = withDropped(goesOn ? chat : there, changes);
  return { ...changed, leaf: chat.leaf };
}

/**
 * Where other branches part: the other versions of each shown message, and what follows the last one; `from`: how many
 * messages stand before it.
 * @param {Chat} chat @param {readonly ChatNode[]} nodes @returns {{id: string, from: number}[]}
 */
function waysOff(chat, nodes) {
  const below = (/** @type {ChatNode | undefined} */ node) => (node ? chat.nodes[node.id].children : chat.roots);
  return [...nodes, null].flatMap((node, from) =>
    below(nodes[from - 1]).filter((id) => id !== node?.id).map((id) => ({ id, from })),
  );
}

/** What messages of a chat that is being made say of others; each is copied once, however much it says. */
class Notes {
  constructor() {
    /** @type {Map<string, Record<string, Range[]>>} */
    this._own = new Map();
  }

  /**
   * What is left out of a message on the branches through another one.
   * @param {Chat} next @param {string} id @param {string} key @param {Range[]} ranges @param {boolean} over what it says already
   */
  add(next, id, key, ranges, over) {
    const node = next.nodes[id];
    if (!over && Object.hasOwn(node.above ?? {}, key)) return;
    const above = this._own.get(id) ?? { ...node.above };
    above[key] = ranges;
    if (this._own.has(id)) return;
    this._own.set(id, above);
    next.nodes[id] = { ...node, above };
  }
}

/** What is not there is not written down. @param {Chat} next @param {Place} place @param {Range[]} ranges */
function put(next, place, ranges) {
  const dropped = ranges.length ? ranges : undefined;
  if (place === null) next.systemDropped = dropped;
  else next.nodes[place] = { ...next.nodes[place], dropped };
}

/** @param {Range[] | undefined} left @param {Range[] | undefined} right */
function isSame(left, right) {
  return left === right || (!left?.length && !right?.length);
}

/** @param {string} key @returns {Place} */
function placeOf(key) {
  return key === SYSTEM ? null : key;
}
