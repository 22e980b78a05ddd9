/** A chat of which more or less travels. Messages are named by their nodes, the system prompt by null. */
import { nodeOf, path } from '../tree.js';
import { joined, withoutRange } from './ranges.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').Range} Range */
/** What of one message changes. @typedef {{dropped?: Range[], pinned?: boolean}} Change */
/** @typedef {string | null} Place */

/**
 * Where the messages of a chat are kept, in the order of `kept`.
 * @param {Chat} chat @returns {Place[]}
 */
export function places(chat) {
  const ids = path(chat).map(({ id }) => id);
  return chat.system ? [null, ...ids] : ids;
}

/** What is dropped of a message now. @param {Chat} chat @param {Place} place @returns {Range[]} */
export function droppedOf(chat, place) {
  return (place === null ? chat.systemDropped : nodeOf(chat, place).dropped) ?? [];
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
  return allChanged(chat, more, (next, place, ranges) => ({ dropped: joined([...droppedOf(next, place), ...ranges]) }), now);
}

/** As they were before. @param {Chat} chat @param {readonly (readonly [Place, Range[]])[]} ranges @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid */
export function withDropped(chat, ranges, now = Date.now()) {
  return allChanged(chat, ranges, (_, __, dropped) => ({ dropped }), now);
}

/** Has a message travel again, or a part of it. @param {Chat} chat @param {Place} place @param {Range} [range]
 * @param {number} [now] @returns {Chat} throws ChatStepInvalid */
export function restore(chat, place, range, now = Date.now()) {
  const dropped = droppedOf(chat, place);
  if (!dropped.length) return chat;
  return changed(chat, place, { dropped: range ? withoutRange(dropped, range) : [] }, now);
}

/** Has all that is shown travel again. @param {Chat} chat @param {number} [now] @returns {Chat} */
export function restoreAll(chat, now = Date.now()) {
  const dropped = places(chat).filter((place) => droppedOf(chat, place).length);
  return dropped.length ? allChanged(chat, dropped.map((place) => [place, []]), () => ({ dropped: [] }), now) : chat;
}

/** Has no policy drop any of a message, or again lets them. @param {Chat} chat @param {Place} place
 * @param {boolean} pinned @param {number} [now] @returns {Chat} throws ChatStepInvalid */
export function pin(chat, place, pinned, now = Date.now()) {
  return isPinned(chat, place) === pinned ? chat : changed(chat, place, { pinned }, now);
}

/** @param {Chat} chat @param {Place} place @param {Change} change @param {number} now @returns {Chat} */
function changed(chat, place, change, now) {
  return allChanged(chat, [[place, []]], () => change, now);
}

/**
 * The chat with a change of each place, one after the other; its messages are copied once, however many change.
 * @param {Chat} chat @param {readonly (readonly [Place, readonly Range[]])[]} all
 * @param {(next: Chat, place: Place, ranges: Range[]) => Change} step @param {number} now @returns {Chat}
 */
function allChanged(chat, all, step, now) {
  const next = { ...chat, nodes: { ...chat.nodes }, updated: now };
  for (const [place, ranges] of all) put(next, place, step(next, place, [...ranges]));
  return next;
}

/** Writes a change into a chat that is being made. @param {Chat} next @param {Place} place @param {Change} change */
function put(next, place, { dropped = droppedOf(next, place), pinned = isPinned(next, place) }) {
  // What is not there is not written down.
  const about = { dropped: dropped.length ? dropped : undefined, pinned: pinned || undefined };
  if (place === null) Object.assign(next, { systemDropped: about.dropped, systemPinned: about.pinned });
  else next.nodes[place] = { ...nodeOf(next, place), ...about };
}
