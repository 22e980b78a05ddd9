/** The size of a chat, without writing it out. */

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */

export const MAX_CHAT_BYTES = 16 << 20;
// Ids, times and brackets of a node in a document.
const AROUND_A_NODE = 200;

// Nodes never change, so that a long chat is not measured again at every save.
/** @type {WeakMap<ChatNode, number>} */
const measured = new WeakMap();

/** About the bytes of its document. @param {Chat} chat */
export function sizeOf(chat) {
  let bytes = jsonBytes(chat.system) + jsonBytes(JSON.stringify([chat.params, chat.systemDropped, chat.redaction]));
  for (const id in chat.nodes) bytes += sizeOfNode(chat.nodes[id]);
  return bytes;
}

/** @param {ChatNode} node */
function sizeOfNode(node) {
  let bytes = measured.get(node);
  if (bytes === undefined) {
    const about = JSON.stringify([node.stats, node.dropped, node.above]);
    bytes = jsonBytes(node.content) + jsonBytes(node.sent ?? '') + jsonBytes(about) + AROUND_A_NODE;
    bytes += node.brightness?.length ?? 0;
    measured.set(node, bytes);
  }
  return bytes;
}

/** UTF-8 bytes of a text as a JSON string has it. @param {string} text */
function jsonBytes(text) {
  return new TextEncoder().encode(JSON.stringify(text)).length;
}
