/** A chat as a template is given it. */
import { travelling } from './travelling.js';

/** @typedef {import('../types').Kept} Kept */
/** A message, and what the model wrote of it where that is another text. @typedef {import('../../../types/gatelink').Message & {sent?: string}} Said */

/**
 * What travels of a chat: many templates refuse two messages of the user in a row, so that what was said after a
 * message without an answer is its next paragraph.
 * @param {readonly Kept[]} chat @returns {Said[]}
 */
export function spoken(chat) {
  /** @type {Said[]} */
  const given = [];
  for (const { role, content, sent } of travelling(chat)) {
    const last = given[given.length - 1];
    if (last?.role === 'user' && role === 'user') last.content += `\n\n${content}`;
    else given.push({ role, content, ...(sent !== undefined && { sent }) });
  }
  return given;
}
