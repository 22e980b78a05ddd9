/** Messages of another app's tree, as a chat of this one: parents before children, and question and reply in turns. */
import { ChatTooLarge, ConversationFileInvalid } from '../errors.js';
import { wellFormed } from '../text.js';
import { tidyTitle, titleOf } from '../titles.js';
import { MAX_NODES, newChat } from '../tree.js';
import { MAX_CHAT_BYTES, sizeOf } from '../size.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').ChatNode} ChatNode */
/**
 * A message as another app keeps it; one without a text (role null) only leads on to what lies below it.
 * @typedef {{role: 'user' | 'assistant' | null, text: string, parent: string | null, children: string[],
 *   created: number | null}} Theirs
 */
/**
 * @typedef {{title: string, system: string, model: string, created: number, updated: number,
 *   messages: ReadonlyMap<string, Theirs>, current: string | null}} Conversation
 */

/** A chat that gets messages, and how many it has: to count them for each would take time by their square. @typedef {{chat: Chat, count: number}} Growing */

/**
 * @param {Conversation} theirs @param {string} [id]
 * @returns {Chat | null} null: nothing is said in it. Throws ConversationFileInvalid, ChatTooLarge
 */
export function chatOf(theirs, id) {
  const { title, system, model, created, updated, messages } = theirs;
  const chat = newChat({ system: system || null, model: tidyTitle(model), now: created, ...(id && { id }) });
  const places = grow(chat, messages);
  if (!chat.roots.length) return null;
  chat.updated = updated;
  chat.leaf = leafOf(chat, places, messages, theirs.current);
  const first = Object.values(chat.nodes).find(({ role }) => role === 'user');
  chat.title = tidyTitle(title) || titleOf(first?.content ?? '');
  if (sizeOf(chat) > MAX_CHAT_BYTES) throw new ChatTooLarge(`a chat has at most ${MAX_CHAT_BYTES >> 20} MB`);
  return chat;
}

/**
 * Adds all messages that can be reached from those without a parent, and tells where each of theirs came to stand.
 * @param {Chat} chat @param {ReadonlyMap<string, Theirs>} messages
 */
function grow(chat, messages) {
  /** @type {Map<string, string | null>} theirs to ours; null: nothing stands above it */
  const places = new Map();
  const growing = { chat, count: 0 };
  const isFirst = (/** @type {Theirs} */ { parent }) => parent === null || !messages.has(parent);
  const waiting = [...messages].filter(([, message]) => isFirst(message)).map(([id]) => id).reverse();
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    // One that two name as their child, or a circle, which no file of those apps has.
    if (places.has(id)) throw new ConversationFileInvalid('a message stands at two places');
    const message = /** @type {Theirs} */ (messages.get(id));
    const above = message.parent === null ? null : (places.get(message.parent) ?? null);
    places.set(id, put(growing, above, message));
    waiting.push(...[...new Set(message.children)].filter((child) => messages.get(child)?.parent === id).reverse());
  }
  return places;
}

/**
 * @param {Growing} growing @param {string | null} above of ours @param {Theirs} message
 * @returns {string | null} the message of ours that holds it
 */
function put(growing, above, { role, text, created }) {
  const { chat } = growing;
  const content = wellFormed(text);
  if (role === null || !content.trim()) return above;
  const over = above === null ? null : chat.nodes[above];
  // A reply that came in parts, around the calls of a tool for example, is one here.
  if (over && role === 'assistant' && over.role === role && !over.children.length) {
    chat.nodes[over.id] = { ...over, content: `${over.content}\n\n${content}` };
    return over.id;
  }
  return add(growing, { parent: above, role, content, created: created ?? chat.created });
}

/** @param {Growing} growing @param {Pick<ChatNode, 'parent' | 'role' | 'content' | 'created'>} node */
function add(growing, node) {
  if (growing.count >= MAX_NODES) throw new ChatTooLarge(`a chat has at most ${MAX_NODES} messages`);
  growing.count += 1;
  const { chat, count } = growing;
  const id = `m${count}`;
  chat.nodes[id] = { id, ...node, children: [] };
  (node.parent === null ? chat.roots : chat.nodes[node.parent].children).push(id);
  return id;
}

/**
 * The message that was shown last, or the newest below the first.
 * @param {Chat} chat @param {ReadonlyMap<string, string | null>} places
 * @param {ReadonlyMap<string, Theirs>} messages @param {string | null} current
 */
function leafOf(chat, places, messages, current) {
  const shown = current !== null && messages.has(current) ? places.get(current) : null;
  if (shown) return shown;
  let node = chat.nodes[chat.roots[chat.roots.length - 1]];
  while (node.children.length) node = chat.nodes[node.children[node.children.length - 1]];
  return node.id;
}
