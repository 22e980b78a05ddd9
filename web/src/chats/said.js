import { turns } from './tree.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('../../types/gatelink').Message} Message */

// What is older has gone on in later replies, or goes by itself.
const MOST_REPLIES = 32;

/**
 * What the model was given and said, for each of the chat's last replies in all its branches, the newest first.
 * @param {Chat} chat @returns {Message[][]} each ends with a reply
 */
export function said(chat) {
  const replies = Object.keys(chat.nodes).filter((id) => isReply(chat.nodes[id]));
  return replies.slice(-MOST_REPLIES).reverse().map((leaf) => turns({ ...chat, leaf }));
}

/** @param {import('./types').ChatNode} node */
function isReply({ role, content }) {
  return role === 'assistant' && content !== '';
}
