// Chats as files that a person keeps.
import { exportAll, exportChat, importChats, readDocument } from '../../../chats/documents.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/store.js').ChatStore} ChatStore */

/** @param {Chat} chat */
export function fileOf(chat) {
  return { name: fileName(chat.title), blob: new Blob([exportChat(chat)], { type: 'application/json' }) };
}

/**
 * @param {Pick<ChatStore, 'list' | 'load'>} store
 * @param {Chat[]} unsaved chats that are newer here than there
 */
export async function fileOfAll(store, unsaved) {
  const here = new Map(unsaved.map((chat) => [chat.id, chat]));
  const list = async () => {
    const others = (await store.list()).filter(({ id }) => !here.has(id));
    return [...unsaved.map(({ id }) => ({ id })), ...others];
  };
  const load = async (/** @type {string} */ id) => here.get(id) ?? store.load(id);
  return { name: 'gatelink-chats.json', blob: await exportAll({ list, load }) };
}

/** The chats of files of this app or of the terminal. @param {Blob[]} files */
export async function chatsIn(files) {
  const texts = await Promise.all(files.map(readDocument));
  return texts.flatMap((text, index) => importChats(text, { now: writtenAt(files[index]) }));
}

/** When a file was changed last, in milliseconds since 1970; now, where it does not say. @param {Blob} file */
function writtenAt(file) {
  const at = /** @type {File} */ (file).lastModified;
  return at > 0 ? Math.min(at, Date.now()) : Date.now();
}

/** @param {string} title @returns {string} fit for every file system */
export function fileName(title) {
  const letters = title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return `${letters.slice(0, 60) || 'chat'}.json`;
}
