// Chats that a page which is gone could not save.
import { readUnsaved, recovered } from '../../../chats/recovered.js';
import { describeError } from '../../../common/errors.js';

/** @typedef {import('../../../chats/types').Chat} Chat */

// Two tabs may find the same; the second one finds nothing left to do.
const MOST_TRIES = 3;

/**
 * Saves what a page that is gone has left of a chat.
 * @param {Pick<import('../../../chats/store.js').ChatStore, 'load' | 'save'>} store
 * @param {string} id @param {unknown} left
 * @returns {Promise<{chat: Chat | null, saved: boolean}>} chat null: there is nothing to do, or it cannot be
 *   read; not saved: the disk does not take it
 * @throws {import('../../../common/errors.js').AppError} chat_store_failed
 */
export async function recover(store, id, left) {
  const unsaved = readUnsaved(left);
  if (unsaved?.about.id !== id) return { chat: null, saved: true };
  for (let tries = 1; ; tries += 1) {
    const chat = recovered(await stored(store, id), unsaved);
    if (!chat) return { chat, saved: true };
    try {
      await store.save(chat);
      return { chat, saved: true };
    } catch (error) {
      if (describeError(error).code !== 'chat_changed' || tries === MOST_TRIES) return { chat, saved: false };
    }
  }
}

/** @param {Pick<import('../../../chats/store.js').ChatStore, 'load'>} store @param {string} id */
async function stored(store, id) {
  try {
    return await store.load(id);
  } catch (error) {
    if (describeError(error).code === 'chat_unknown') return null;
    throw error;
  }
}
