/** A chat as a whole: its name, its place among the others, and the circumstances of its next replies. */
import { newId } from './ids.js';
import { SYSTEM } from './context/shown.js';
import { wellFormed } from './text.js';
import { tidyTitle } from './titles.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').Plain} Plain */
/** @typedef {import('../../types/gatelink').FormChoice} FormChoice */
/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */

/** @param {Chat} chat @param {string} title @param {number} [now] @returns {Chat} */
export function rename(chat, title, now = Date.now()) {
  return { ...chat, title: tidyTitle(title) || chat.title, updated: now };
}

/** What a list shows of a chat. @param {Chat} chat @returns {import('./types').ChatSummary} */
export function briefly({ id, title, updated, nodes, pinned, folder }) {
  const about = { id, title, updated, count: Object.keys(nodes).length };
  return { ...about, ...(pinned && { pinned }), ...(typeof folder === 'string' && folder && { folder }) };
}

/**
 * Where a chat stands among the others, which changes nothing in it.
 * @param {Chat} chat @param {{pinned?: boolean, folder?: string}} place folder: '' for none @returns {Chat}
 */
export function placed(chat, place) {
  const { pinned = chat.pinned, folder = chat.folder } = place;
  const { pinned: _, folder: __, ...others } = chat;
  const name = tidyTitle(folder ?? '');
  return { ...others, ...(pinned && { pinned }), ...(name && { folder: name }) };
}

/**
 * Other circumstances of the next replies.
 * @param {Chat} chat
 * @param {{system?: string, adapter?: string|null, attention?: boolean, noise?: NoiseChoice|null,
 *   redaction?: import('./types').Redaction|null, form?: FormChoice|null, context?: import('./types').ContextChoice|null, params?: Record<string, Plain>,
 *   model?: string}} about
 * @param {number} [now] @returns {Chat}
 */
export function withSettings(chat, about, now = Date.now()) {
  const system = about.system === undefined ? chat.system : wellFormed(about.system);
  // Ranges are of the text that they were made for.
  const anew = system === chat.system ? {} : { systemDropped: undefined, systemBrightness: undefined, nodes: withoutSystem(chat) };
  return { ...chat, ...about, ...anew, system, updated: now };
}

/**
 * The whole tree under another id, where two tabs have parted for example.
 * @param {Chat} chat @param {{id?: string, title?: string, now?: number}} [about] @returns {Chat}
 */
export function copyOf(chat, { id = newId(), title = chat.title, now = Date.now() } = {}) {
  const { revision: _, ...own } = chat;
  return { ...own, id, title: tidyTitle(title), updated: now };
}

/** The messages with no word on the system prompt. @param {Chat} chat @returns {Chat['nodes']} */
function withoutSystem({ nodes }) {
  const told = Object.values(nodes).filter(({ above }) => above && Object.hasOwn(above, SYSTEM));
  const others = told.map(({ above, ...node }) => {
    const { [SYSTEM]: _, ...rest } = above ?? {};
    return { ...node, ...(Object.keys(rest).length && { above: rest }) };
  });
  return others.length ? { ...nodes, ...Object.fromEntries(others.map((node) => [node.id, node])) } : nodes;
}
