/** Files of other apps, told apart by their form. */
import { ConversationFileInvalid } from '../errors.js';
import { MAX_CHATS } from '../store.js';
import { chatGptChat, isConversation } from './chatgpt.js';
import { isExported, openWebUiChat } from './open_webui.js';

/** @typedef {import('../types').Chat} Chat */

/** @param {unknown} document @returns {boolean} whether a file is another app's */
export function isForeign(document) {
  return asList(document).some((item) => isConversation(item) || isExported(item));
}

/**
 * All chats of another app's file; either all can be read or none is. Those in which nothing is said are left out.
 * @param {unknown} document @param {number} now
 * @returns {Chat[]} throws ConversationFileInvalid, ChatTooLarge
 */
export function foreignChats(document, now) {
  const items = asList(document);
  if (items.length > MAX_CHATS) throw new ConversationFileInvalid(`it has more than ${MAX_CHATS} chats`);
  const chats = items.map((item, index) => {
    // Those that bear no date stay in the order of the file.
    const at = Math.max(0, now - index);
    if (isConversation(item)) return chatGptChat(/** @type {Record<string, unknown>} */ (item), at);
    if (isExported(item)) return openWebUiChat(/** @type {Record<string, unknown>} */ (item), at);
    throw new ConversationFileInvalid(`chat ${index} has neither a 'mapping' (ChatGPT) nor a 'history' (Open WebUI)`);
  });
  const said = chats.filter((chat) => chat !== null);
  if (!said.length) throw new ConversationFileInvalid('nothing is said in any of its chats');
  return said;
}

/** @param {unknown} document @returns {unknown[]} */
function asList(document) {
  return Array.isArray(document) ? document : [document];
}
