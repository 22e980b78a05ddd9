/**
 * Chats as JSON: `gatelink.conversation` version 1, which the terminal client reads and writes
 * (split_client.saved_chats.document). Its `messages` are the shown path; the key `tree`, which the
 * terminal ignores, keeps every branch. `gatelink.conversations` holds many of them.
 */
import { ChatTooLarge, ConversationFileInvalid } from './errors.js';
import { newId } from './ids.js';
import { foreignChats, isForeign } from './imports/foreign.js';
import { isRecord } from './plain.js';
import { importedRedaction, redactionDocument } from './redaction/document.js';
import { MAX_CHAT_BYTES, sizeOf } from './size.js';
import { MAX_CHATS } from './store.js';
import { isWellFormed } from './text.js';
import { tidyTitle, titleOf } from './titles.js';
import { MAX_NODES, kept, newChat } from './tree.js';
import { contextOf, ofSystem } from './context/document.js';
import { treeIn, treeOf } from './tree_document.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./types').Kept} Kept */

const FORMAT = 'gatelink.conversation';
const MANY = 'gatelink.conversations';
const VERSION = 1;
// Of one file; the terminal reads no more of a chat than 16 MB.
export const MAX_FILE_BYTES = 256 << 20;
const MODEL_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const ROLES = new Set(['system', 'user', 'assistant']);

/** The document of a chat with all its branches. @param {Chat} chat @returns {string} */
export function exportChat(chat) {
  return `${JSON.stringify(documentOf(chat), null, 2)}\n`;
}

/**
 * One file with all chats of a store, made chat by chat.
 * @param {{list: () => Promise<{id: string}[]>, load: (id: string) => Promise<Chat>}} store
 * @returns {Promise<Blob>} throws ChatTooLarge where it would be larger than can be imported
 */
export async function exportAll(store) {
  const parts = [`{"format": "${MANY}", "version": ${VERSION}, "chats": [`];
  let bytes = 0;
  for (const { id } of await store.list()) {
    const chat = await store.load(id).catch(unlessUnknown);
    if (!chat) continue;
    bytes += sizeOf(chat);
    if (bytes > MAX_FILE_BYTES) throw new ChatTooLarge('these are more chats than fit into one file');
    parts.push(`${parts.length > 1 ? ',' : ''}\n`, JSON.stringify(documentOf(chat)));
  }
  return new Blob([...parts, '\n]}\n'], { type: 'application/json' });
}

/**
 * A chat from its document or from the terminal's, under a new id.
 * @param {string} text
 * @param {{now?: number, id?: string}} [as]
 * @returns {Chat} throws ConversationFileInvalid, ChatTooLarge
 */
export function importChat(text, { now = Date.now(), id = newId() } = {}) {
  return chatIn(parsed(text), now, id);
}

/**
 * All chats of a file, of one or of many, or of another app (`imports/`); either all can be read or none is.
 * @param {string} text
 * @param {{now?: number}} [as]
 * @returns {Chat[]} throws ConversationFileInvalid, ChatTooLarge
 */
export function importChats(text, { now = Date.now() } = {}) {
  const document = parsed(text);
  if (isForeign(document)) return foreignChats(document, now);
  if (!isRecord(document) || document.format !== MANY) return [chatIn(document, now, newId())];
  requireVersion(document);
  if (!Array.isArray(document.chats) || document.chats.length > MAX_CHATS) {
    throw new ConversationFileInvalid(`'chats' is not a list of at most ${MAX_CHATS}`);
  }
  // Those that bear no date stay in the order of the file, of which the first is the newest.
  return document.chats.map((each, index) => chatIn(each, Math.max(0, now - index), newId()));
}

/**
 * The text of a file that a person chose.
 * @param {Blob} file
 * @returns {Promise<string>} throws ConversationFileInvalid
 */
export async function readDocument(file) {
  if (file.size > MAX_FILE_BYTES) {
    throw new ConversationFileInvalid(`it is larger than ${MAX_FILE_BYTES >> 20} MB`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new ConversationFileInvalid('it is not text in UTF-8');
  }
}

/** @param {unknown} error @returns {null} */
function unlessUnknown(error) {
  if (/** @type {{code?: string}} */ (error)?.code !== 'chat_unknown') throw error;
  return null;
}

/** @param {Chat} chat */
function documentOf(chat) {
  const { model, served } = chat;
  const messages = kept(chat).map(({ sent: _, ...message }) => message);
  const redaction = redactionDocument(chat);
  return { format: FORMAT, version: VERSION, model, ...(served && { served }), messages, ...(redaction && { redaction }), tree: treeOf(chat) };
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  if (text.length > MAX_FILE_BYTES) {
    throw new ConversationFileInvalid(`it is larger than ${MAX_FILE_BYTES >> 20} MB`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ConversationFileInvalid('it is not JSON');
  }
}

/** @param {Record<string, unknown>} document */
function requireVersion(document) {
  if (document.version !== VERSION) {
    throw new ConversationFileInvalid(`its version is not ${VERSION}; reload the page to update it`);
  }
}

/** @param {unknown} document @param {number} now @param {string} id @returns {Chat} */
function chatIn(document, now, id) {
  if (!isRecord(document) || document.format !== FORMAT) {
    throw new ConversationFileInvalid(`it has no "format": "${FORMAT}"`);
  }
  requireVersion(document);
  const spoken = messagesIn(document.messages);
  const model = typeof document.model === 'string' ? tidyTitle(document.model) : '';
  const redaction = importedRedaction(document.redaction);
  const read = Object.hasOwn(document, 'tree')
    ? treeIn(document.tree, { id, model, now }, spoken)
    : line(spoken, { id, model, now });
  // What is no name chooses nothing.
  const served = typeof document.served === 'string' && MODEL_NAME.test(document.served) ? document.served : null;
  const chat = { ...read, ...(redaction && { redaction }), ...(served && { served }) };
  if (sizeOf(chat) > MAX_CHAT_BYTES) throw new ChatTooLarge(`a chat has at most ${MAX_CHAT_BYTES >> 20} MB`);
  return chat;
}

/** @param {unknown} list @returns {Kept[]} */
function messagesIn(list) {
  if (!Array.isArray(list)) throw new ConversationFileInvalid("'messages' is not a list");
  if (list.length > MAX_NODES + 1) {
    throw new ConversationFileInvalid(`it has more than ${MAX_NODES} messages`);
  }
  return list.map((item, index) => {
    const given = isRecord(item) ? item : {};
    const { role, content } = given;
    if (typeof role !== 'string' || !ROLES.has(role) || typeof content !== 'string') {
      const roles = [...ROLES].join(', ');
      throw new ConversationFileInvalid(`message ${index} has no 'role' (${roles}) and 'content'`);
    }
    if (role === 'system' && index > 0) {
      throw new ConversationFileInvalid(`message ${index} is a second system message`);
    }
    if (!isWellFormed(content)) throw new ConversationFileInvalid(`message ${index} has half a character`);
    return /** @type {Kept} */ ({ role, content, ...contextOf(given, content, `message ${index}`) });
  });
}

/**
 * A chat without branches, as the terminal keeps it.
 * @param {Kept[]} spoken @param {{id: string, model: string, now: number}} about @returns {Chat}
 */
function line(spoken, { id, model, now }) {
  const system = spoken[0]?.role === 'system' ? spoken[0].content : '';
  const turns = system ? spoken.slice(1) : spoken.filter((message) => message.role !== 'system');
  const nodes = turns.map((message, index) => nodeAt(message, index, turns.length, now));
  return {
    ...newChat({ id, model, now, system }),
    ...ofSystem(spoken[0]),
    title: titleOf(turns.find((message) => message.role === 'user')?.content ?? ''),
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    roots: nodes.length ? [nodes[0].id] : [],
    leaf: nodes.length ? nodes[nodes.length - 1].id : null,
  };
}

/**
 * @param {Kept} message @param {number} index @param {number} count of all @param {number} now
 * @returns {ChatNode}
 */
function nodeAt({ role, content, ...context }, index, count, now) {
  return {
    id: `m${index + 1}`,
    parent: index ? `m${index}` : null,
    role: role === 'assistant' ? role : 'user',
    content,
    children: index + 1 < count ? [`m${index + 2}`] : [],
    created: now,
    ...context,
  };
}

