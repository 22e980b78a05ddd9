/** What of a chat the disk does not have yet, small enough to be written while a page goes away. */

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/**
 * `about`: the chat with `nodes` that are new or have grown alone; `known`: whether the disk has the chat.
 * @typedef {{about: Chat, known: boolean}} Unsaved
 */

/**
 * Messages never change in place, so what is another object is what the disk lacks.
 * @param {Chat | undefined} saved as it was saved or read last; undefined: never
 * @param {Chat} chat
 * @returns {Unsaved}
 */
export function unsavedOf(saved, chat) {
  const nodes = Object.values(chat.nodes).filter((node) => saved?.nodes[node.id] !== node);
  return {
    about: { ...chat, nodes: Object.fromEntries(nodes.map((node) => [node.id, node])) },
    known: saved !== undefined,
  };
}
