/**
 * What is shown of a chat: the messages on the way to its leaf, and what is left out of each on that branch.
 *
 * What is left out belongs to a branch, while messages belong to several. A message's `dropped` is that of every branch
 * with no word of its own on it: the last message of a branch that has an entry for it in `above` says what it is there.
 */
import { ChatStepInvalid } from '../errors.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').ChatNode} ChatNode */
/** @typedef {import('../types').Range} Range */
/** The id of a message, or SYSTEM. @typedef {string} Key */
/**
 * `dropped`: of each key of which something may be left out; `holders`: which node says so, where it is another one.
 * @typedef {{nodes: readonly ChatNode[], dropped: Map<Key, Range[]>, holders: Map<Key, string>}} Shown
 */

/** What stands for the system prompt in `above`. */
export const SYSTEM = 'system';

// Chats and their messages never change in place.
/** @type {WeakMap<Chat, Shown>} */
const known = new WeakMap();
/** Messages with what is left out of them on a branch. @type {WeakMap<ChatNode, ChatNode>} */
const there = new WeakMap();

/** @param {Chat} chat @param {string} id @returns {ChatNode} throws ChatStepInvalid */
export function nodeOf(chat, id) {
  if (!Object.hasOwn(chat.nodes, id)) throw new ChatStepInvalid('this chat has no such message');
  return chat.nodes[id];
}

/** The shown messages, the first one first. @param {Chat} chat @returns {readonly ChatNode[]} */
export function path(chat) {
  return shownOf(chat).nodes;
}

/** A message with what is left out of it where it is shown. @param {Chat} chat @param {string} id @returns {ChatNode} throws ChatStepInvalid */
export function shownNode(chat, id) {
  return path(chat).find((node) => node.id === id) ?? nodeOf(chat, id);
}

/**
 * The chat where it was once; what was said since stays beside it.
 * @param {Chat} chat @param {Chat} before an earlier state of it @returns {Chat}
 * @throws {ChatStepInvalid} where it does not have those messages, as another tab has made it another one
 */
export function backAt(chat, before) {
  for (const { id, parent, role, content } of path(before)) {
    const now = Object.hasOwn(chat.nodes, id) ? chat.nodes[id] : null;
    const same = now && now.parent === parent && now.role === role && now.content.startsWith(content);
    if (!same) throw new ChatStepInvalid('this chat is another one by now, without what was taken back');
  }
  return { ...chat, leaf: before.leaf };
}

/** @param {Chat} chat @returns {Shown} */
export function shownOf(chat) {
  let shown = known.get(chat);
  if (!shown) known.set(chat, (shown = found(chat)));
  return shown;
}

/** @param {Chat} chat @returns {Shown} */
function found(chat) {
  const raw = [];
  for (let id = chat.leaf; id !== null; id = raw[raw.length - 1].parent) raw.push(nodeOf(chat, id));
  raw.reverse();
  /** @type {Map<Key, Range[]>} */
  const dropped = new Map();
  /** @type {Map<Key, string>} */
  const holders = new Map();
  if (chat.systemDropped?.length) dropped.set(SYSTEM, chat.systemDropped);
  for (const node of raw) {
    if (node.dropped?.length) dropped.set(node.id, node.dropped);
    for (const [key, ranges] of Object.entries(node.above ?? {})) {
      dropped.set(key, ranges);
      holders.set(key, node.id);
    }
  }
  const nodes = holders.size ? raw.map((node) => asThere(node, dropped.get(node.id))) : raw;
  return { nodes, dropped, holders };
}

/** The same object as long as it says the same. @param {ChatNode} node @param {Range[] | undefined} dropped @returns {ChatNode} */
function asThere(node, dropped) {
  const wanted = dropped?.length ? dropped : undefined;
  if (wanted === node.dropped) return node;
  const before = there.get(node);
  if (before && before.dropped === wanted) return before;
  const { dropped: _, ...others } = node;
  const made = wanted ? { ...others, dropped: wanted } : others;
  there.set(node, made);
  return made;
}
