/**
 * A chat is an immutable tree of messages, and its leaf says which path through it is shown.
 *
 * Nothing is ever taken out of the tree: an edited message and a reply that was asked for again are
 * siblings of the first ones, and what is undone stays below the new leaf.
 */
import { ChatStepInvalid, ChatTooLarge, PromptEmpty } from './errors.js';
import { newId } from './ids.js';
import { wellFormed } from './text.js';
import { tidyTitle, titleOf } from './titles.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./types').Plain} Plain */
/** @typedef {import('../../types/gatelink').FormChoice} FormChoice */
/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */
/** @typedef {import('../../types/gatelink').Message} Message */

export const MAX_NODES = 20_000;

/**
 * An empty chat. Times are milliseconds since 1970.
 * @param {{system?: string|null, adapter?: string|null, noise?: NoiseChoice|null, now?: number, id?: string,
 *   params?: Record<string, Plain>, model?: string}} [about]
 * @returns {Chat}
 */
export function newChat({ system, adapter, noise, now = Date.now(), id = newId(), params = {}, model = '' } = {}) {
  return {
    id,
    title: '',
    system: wellFormed(system ?? ''),
    adapter: adapter ?? null,
    noise: noise ?? null,
    params,
    created: now,
    updated: now,
    nodes: {},
    roots: [],
    leaf: null,
    model,
  };
}

/** @param {Chat} chat @param {string} id @returns {ChatNode} throws ChatStepInvalid */
export function nodeOf(chat, id) {
  if (!Object.hasOwn(chat.nodes, id)) throw new ChatStepInvalid('this chat has no such message');
  return chat.nodes[id];
}

/** The shown messages, the first one first. @param {Chat} chat @returns {ChatNode[]} */
export function path(chat) {
  const nodes = [];
  for (let id = chat.leaf; id !== null; id = nodes[nodes.length - 1].parent) nodes.push(nodeOf(chat, id));
  return nodes.reverse();
}

/**
 * The system message, if there is one, and the path.
 * @param {Chat} chat @returns {Message[]}
 */
export function messages(chat) {
  const spoken = path(chat).map(({ role, content }) => ({ role, content }));
  return chat.system ? [{ role: 'system', content: chat.system }, ...spoken] : spoken;
}

/**
 * What the model is given: many templates refuse two messages of the user in a row, so that what was said
 * after a message without an answer is its next paragraph.
 * @param {Chat} chat @returns {Message[]}
 */
export function turns(chat) {
  /** @type {Message[]} */
  const given = [];
  for (const message of messages(chat)) {
    const last = given[given.length - 1];
    if (last?.role === 'user' && message.role === 'user') last.content += `\n\n${message.content}`;
    else given.push(message);
  }
  return given;
}

/**
 * Adds a message of the user; the first one also names the chat. One that was never answered stays before it.
 * @param {Chat} chat @param {string} content @param {number} [now]
 * @returns {Chat} throws PromptEmpty, ChatTooLarge
 */
export function say(chat, content, now = Date.now()) {
  if (!content.trim()) throw new PromptEmpty();
  return grown(named(chat, chat.leaf, content), { parent: chat.leaf, role: 'user', content }, now);
}

/**
 * Adds the model's answer to the leaf, which must be the user's. A save while it still streams is
 * this with reason 'interrupted' and the text so far, always from the chat before the reply.
 * @param {Chat} chat @param {string} content
 * @param {{reason?: string, stats?: Record<string, Plain>}} [about]
 * @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid, ChatTooLarge
 */
export function reply(chat, content, { reason, stats } = {}, now = Date.now()) {
  if (chat.leaf === null || nodeOf(chat, chat.leaf).role !== 'user') {
    throw new ChatStepInvalid('a reply answers a message of the user');
  }
  return grown(chat, { parent: chat.leaf, role: 'assistant', content, reason, stats }, now);
}

/**
 * The same message in other words: a sibling, which becomes the leaf. A chat that bears the name of its first
 * message follows that one; a name that a person gave stays.
 * @param {Chat} chat @param {string} nodeId @param {string} content @param {number} [now]
 * @returns {Chat} throws PromptEmpty, ChatStepInvalid, ChatTooLarge
 */
export function editMessage(chat, nodeId, content, now = Date.now()) {
  if (!content.trim()) throw new PromptEmpty();
  const { parent, role } = nodeOf(chat, nodeId);
  return grown(named(chat, parent, content), { parent, role, content }, now);
}

/**
 * Drops the path to the last message of the user, so that its next reply becomes a sibling.
 * @param {Chat} chat @returns {Chat} throws PromptEmpty: there is none
 */
export function regenerateFrom(chat) {
  const last = lastOfUser(chat);
  if (!last) throw new PromptEmpty();
  return { ...chat, leaf: last.id };
}

/**
 * The newest reply to the message at the leaf, which another one will stand beside.
 * @param {Chat} chat @returns {string} '': there is none
 */
export function earlierReply(chat) {
  const below = chat.leaf === null ? [] : nodeOf(chat, chat.leaf).children.map((id) => nodeOf(chat, id));
  return below.findLast(({ role }) => role === 'assistant')?.content ?? '';
}

/**
 * Takes the last message of the user and what followed off the path; `redo` shows it again.
 * @param {Chat} chat @returns {Chat} the same one where there is nothing to undo
 */
export function undo(chat) {
  const last = lastOfUser(chat);
  return last ? { ...chat, leaf: last.parent } : chat;
}

/** Follows the newest branch below the leaf to its end. @param {Chat} chat @returns {Chat} */
export function redo(chat) {
  const below = chat.leaf === null ? chat.roots : nodeOf(chat, chat.leaf).children;
  return below.length ? { ...chat, leaf: newestBelow(chat, below[below.length - 1]) } : chat;
}

/** @param {Chat} chat @returns {ChatNode|null} */
export function lastOfUser(chat) {
  return path(chat).findLast((node) => node.role === 'user') ?? null;
}

/**
 * The versions of a message, the oldest first, and which one this is.
 * @param {Chat} chat @param {string} nodeId @returns {{ids: string[], index: number}}
 */
export function siblings(chat, nodeId) {
  const { parent } = nodeOf(chat, nodeId);
  const ids = parent === null ? chat.roots : nodeOf(chat, parent).children;
  return { ids, index: ids.indexOf(nodeId) };
}

/**
 * Shows another version of a message, and the newest of what followed it.
 * @param {Chat} chat @param {string} nodeId @param {number} offset -1: the one before, 1: the next
 * @returns {Chat} the same one where there is no such version
 */
export function selectSibling(chat, nodeId, offset) {
  const { ids, index } = siblings(chat, nodeId);
  const chosen = ids[index + offset];
  return chosen === undefined || offset === 0 ? chat : { ...chat, leaf: newestBelow(chat, chosen) };
}

/** @param {Chat} chat @param {string} title @param {number} [now] @returns {Chat} */
export function rename(chat, title, now = Date.now()) {
  return { ...chat, title: tidyTitle(title) || chat.title, updated: now };
}

/**
 * Other circumstances of the next replies.
 * @param {Chat} chat
 * @param {{system?: string, adapter?: string|null, attention?: boolean, noise?: NoiseChoice|null,
 *   form?: FormChoice|null, params?: Record<string, Plain>, model?: string}} about
 * @param {number} [now] @returns {Chat}
 */
export function withSettings(chat, about, now = Date.now()) {
  const system = about.system === undefined ? chat.system : wellFormed(about.system);
  return { ...chat, ...about, system, updated: now };
}

/**
 * The whole tree under another id, where two tabs have parted for example.
 * @param {Chat} chat @param {{id?: string, title?: string, now?: number}} [about] @returns {Chat}
 */
export function copyOf(chat, { id = newId(), title = chat.title, now = Date.now() } = {}) {
  const { revision: _, ...own } = chat;
  return { ...own, id, title: tidyTitle(title), updated: now };
}

/** The chat with the name that a message gives it. @param {Chat} chat @param {string|null} parent @param {string} content */
function named(chat, parent, content) {
  if (parent !== null) return chat.title ? chat : { ...chat, title: titleOf(content) };
  const own = !chat.title || chat.roots.some((id) => titleOf(chat.nodes[id].content) === chat.title);
  return own ? { ...chat, title: titleOf(content) || chat.title } : chat;
}

/** @param {Chat} chat @param {string} id */
function newestBelow(chat, id) {
  let node = nodeOf(chat, id);
  while (node.children.length) node = nodeOf(chat, node.children[node.children.length - 1]);
  return node.id;
}

/**
 * @param {Chat} chat
 * @param {{parent: string|null, role: 'user'|'assistant', content: string, reason?: string,
 *   stats?: Record<string, Plain>}} added
 * @param {number} now
 * @returns {Chat}
 */
function grown(chat, { parent, role, content, reason, stats }, now) {
  const count = Object.keys(chat.nodes).length;
  if (count >= MAX_NODES) throw new ChatTooLarge(`a chat has at most ${MAX_NODES} messages`);
  // Nodes are never taken out, so that their number is a new id, and the same one for every save
  // of one reply.
  const id = `m${count + 1}`;
  /** @type {ChatNode} */
  const node = { id, parent, role, content: wellFormed(content), children: [], created: now };
  if (reason !== undefined) node.reason = reason;
  if (stats !== undefined) node.stats = stats;
  const nodes = { ...chat.nodes, [id]: node };
  const next = { ...chat, nodes, leaf: id, updated: now };
  if (parent === null) return { ...next, roots: [...chat.roots, id] };
  const above = nodeOf(chat, parent);
  nodes[parent] = { ...above, children: [...above.children, id] };
  return next;
}
