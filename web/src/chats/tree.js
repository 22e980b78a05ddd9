/**
 * A chat is an immutable tree of messages, and its leaf says which path through it is shown.
 *
 * Nothing is ever taken out of the tree: an edited message and a reply that was asked for again are
 * siblings of the first ones, and what is undone stays below the new leaf.
 */
import { amendedBrightness } from './brightness/runs.js';
import { turnedBack } from './context/changes.js';
import { stillDropped } from './context/ranges.js';
import { spoken } from './context/spoken.js';
import { ChatStepInvalid, ChatTooLarge, PromptEmpty } from './errors.js';
import { newId } from './ids.js';
import { SYSTEM, nodeOf, path, shownNode, shownOf } from './context/shown.js';
import { wellFormed } from './text.js';
import { titleOf } from './titles.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./types').Kept} Kept */
/** A message without its place. @typedef {Omit<ChatNode, 'id' | 'parent' | 'children'>} Unplaced */
/** @typedef {import('./types').Plain} Plain */
/**
 * Of a reply: why it ended, how it was made, and what the model wrote where that is not its content.
 * @typedef {{reason?: string, stats?: Record<string, Plain>, sent?: string}} About
 */
/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */
/** @typedef {import('../../types/gatelink').Message} Message */

export { nodeOf, path };
export const MAX_NODES = 20_000;
/** The `reason` of a reply that a person has changed. */
export const AMENDED = 'edited';

/**
 * An empty chat. Times are milliseconds since 1970.
 * @param {{system?: string|null, adapter?: string|null, noise?: NoiseChoice|null,
 *   redaction?: import('./types').Redaction|null, now?: number, id?: string, params?: Record<string, Plain>, model?: string}} [about]
 * @returns {Chat}
 */
export function newChat({ system, adapter, noise, redaction, now = Date.now(), id = newId(), params = {}, model = '' } = {}) {
  return {
    id,
    title: '',
    system: wellFormed(system ?? ''),
    adapter: adapter ?? null,
    noise: noise ?? null,
    ...(redaction && { redaction }),
    params,
    created: now,
    updated: now,
    nodes: {},
    roots: [],
    leaf: null,
    model,
  };
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
 * The same with what does not travel of them, and which are pinned.
 * @param {Chat} chat @returns {Kept[]}
 */
export function kept(chat) {
  const { system, systemPinned, systemBrightness } = chat;
  const spoken = path(chat).map(keptOf);
  const own = { dropped: shownOf(chat).dropped.get(SYSTEM), pinned: systemPinned, brightness: systemBrightness };
  return system ? [keptOf({ role: 'system', content: system, ...own }), ...spoken] : spoken;
}

/** What the model is given, without what was dropped. @param {Chat} chat @returns {import('./context/spoken.js').Said[]} */
export function turns(chat) {
  return spoken(kept(chat));
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
 * @param {About} [about]
 * @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid, ChatTooLarge
 */
export function reply(chat, content, about = {}, now = Date.now()) {
  if (chat.leaf === null || nodeOf(chat, chat.leaf).role !== 'user') {
    throw new ChatStepInvalid('a reply answers a message of the user');
  }
  return grown(chat, { parent: chat.leaf, role: 'assistant', content, ...about }, now);
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
  return grown(named(turnedBack(chat, parent), parent, content), { parent, role, content }, now);
}

/**
 * A reply with more of it, in its place; where something follows it, that stays with the reply as it was, and the
 * longer one stands beside it. A save while it still grows is this, always from the chat before it went on.
 * @param {Chat} chat @param {string} nodeId @param {string} content
 * @param {About} [about]
 * @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid, ChatTooLarge
 */
export function continued(chat, nodeId, content, about = {}, now = Date.now()) {
  const { role, parent, children } = nodeOf(chat, nodeId);
  if (role !== 'assistant') throw new ChatStepInvalid('only a reply goes on');
  const longer = { ...saidAnew(shownNode(chat, nodeId), content), ...told(about) };
  if (children.length) return attached(turnedBack(chat, parent), parent, [{ ...longer, created: now }], now);
  const { id, created, above } = chat.nodes[nodeId];
  const node = { id, parent, children, created, ...(above && { above }), ...longer };
  return { ...chat, nodes: { ...chat.nodes, [nodeId]: node }, leaf: nodeId, updated: now };
}

/**
 * The same reply in a person's words: a sibling, which becomes the leaf.
 * @param {Chat} chat @param {string} nodeId @param {string} content @param {number} [now]
 * @returns {Chat} throws PromptEmpty, ChatStepInvalid, ChatTooLarge
 */
export function amended(chat, nodeId, content, now = Date.now()) {
  if (!content.trim()) throw new PromptEmpty();
  const { parent, role } = nodeOf(chat, nodeId);
  if (role !== 'assistant') throw new ChatStepInvalid('only a reply is changed so');
  const said = { ...saidAnew(shownNode(chat, nodeId), content), created: now, reason: AMENDED };
  return attached(turnedBack(chat, parent), parent, [said], now);
}

/**
 * The path without one of its messages: what follows it stands once more, beside it. The chat as it was stays a branch.
 * @param {Chat} chat @param {string} nodeId on the path @param {number} [now]
 * @returns {Chat} throws ChatStepInvalid, ChatTooLarge
 */
export function without(chat, nodeId, now = Date.now()) {
  const shown = path(chat);
  const at = shown.findIndex(({ id }) => id === nodeId);
  if (at < 0) throw new ChatStepInvalid('this message is not shown');
  const { parent } = shown[at];
  const left = shown.slice(at + 1).map(({ above: _, ...node }) => node);
  return attached(turnedBack(chat, parent), parent, left, now);
}

/**
 * Drops the path to the last message of the user, so that its next reply becomes a sibling.
 * @param {Chat} chat @returns {Chat} throws PromptEmpty: there is none
 */
export function regenerateFrom(chat) {
  const last = lastOfUser(chat);
  if (!last) throw new PromptEmpty();
  return turnedBack(chat, last.id);
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
  return last ? turnedBack(chat, last.parent) : chat;
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

/** @param {Kept} message @returns {Kept} with what is there of it alone */
function keptOf({ role, content, sent, dropped, pinned, brightness }) {
  const whole = { role, content, ...(sent !== undefined && { sent }) };
  return { ...whole, ...(dropped?.length && { dropped }), ...(pinned && { pinned }), ...(brightness && { brightness }) };
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
 * @param {{parent: string|null, role: 'user'|'assistant', content: string} & About} added
 * @param {number} now
 * @returns {Chat}
 */
function grown(chat, { parent, role, content, ...about }, now) {
  /** @type {Unplaced} */
  const node = { role, content: wellFormed(content), created: now, ...told(about) };
  return attached(chat, parent, [node], now);
}

/** What is there of it alone. @param {About} about @returns {About} */
function told({ reason, stats, sent }) {
  return {
    ...(reason !== undefined && { reason }),
    ...(stats !== undefined && { stats }),
    ...(sent !== undefined && { sent: wellFormed(sent) }),
  };
}

/** A message in other words, with what is known of the beginning that both have. @param {ChatNode} node @param {string} text */
function saidAnew({ role, content, dropped = [], pinned, brightness }, text) {
  const says = wellFormed(text);
  const still = stillDropped(dropped, content, says);
  const bright = amendedBrightness(brightness, content, says);
  return { role, content: says, ...(still.length && { dropped: still }), ...(pinned && { pinned }), ...(bright && { brightness: bright }) };
}

/**
 * The chat with more messages, one below the other, of which the last is the leaf.
 * @param {Chat} chat @param {string | null} parent of the first @param {readonly Unplaced[]} line @param {number} now
 * @returns {Chat} throws ChatStepInvalid, ChatTooLarge
 */
function attached(chat, parent, line, now) {
  // Nodes are never taken out, so that their number is a new id, and the same one for every save
  // of one reply.
  let count = Object.keys(chat.nodes).length;
  if (count + line.length > MAX_NODES) throw new ChatTooLarge(`a chat has at most ${MAX_NODES} messages`);
  // Copied once, however many are added.
  const next = { ...chat, nodes: { ...chat.nodes }, leaf: parent, updated: now };
  for (const added of line) {
    const id = `m${(count += 1)}`;
    hang(next, next.leaf, id);
    next.nodes[id] = { ...added, id, parent: next.leaf, children: [] };
    next.leaf = id;
  }
  return next;
}

/** Names a message below another one, in a chat that is being made. @param {Chat} next @param {string | null} parent @param {string} id */
function hang(next, parent, id) {
  if (parent === null) {
    next.roots = [...next.roots, id];
    return;
  }
  const above = nodeOf(next, parent);
  next.nodes[parent] = { ...above, children: [...above.children, id] };
}
