import { kept, turns } from './tree.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./context/spoken.js').Said} Said */

// What is older has gone on in later replies, or goes by itself.
const MOST_REPLIES = 32;

/**
 * What the model was given and said, for each of the chat's last replies in all its branches, the newest first; where
 * something is dropped by now, also as it was before.
 * @param {Chat} chat @returns {Said[][]} each ends with a reply
 */
export function said(chat) {
  return saidWith(chat).map(({ messages }) => messages);
}

/** The same with the replies that they end with. @param {Chat} chat @returns {{reply: ChatNode, messages: Said[]}[]} */
export function saidWith(chat) {
  const replies = Object.keys(chat.nodes).filter((id) => isReply(chat.nodes[id]));
  return replies.slice(-MOST_REPLIES).reverse().flatMap((leaf) => {
    const branch = { ...chat, leaf };
    const all = kept(branch).some(({ dropped }) => dropped) ? [turns(branch), turns(allOf(branch))] : [turns(branch)];
    return all.map((messages) => ({ reply: chat.nodes[leaf], messages }));
  });
}

/** Nothing of it dropped. @param {Chat} chat @returns {Chat} */
function allOf(chat) {
  const nodes = Object.entries(chat.nodes).map(([id, { dropped: _, above: __, ...node }]) => [id, node]);
  return { ...chat, nodes: Object.fromEntries(nodes), systemDropped: undefined };
}

/** @param {import('./types').ChatNode} node */
function isReply({ role, content }) {
  return role === 'assistant' && content !== '';
}
