/** A chat as a template is given it. */
import { travelling } from './travelling.js';

/** @typedef {import('../types').Kept} Kept */
/** @typedef {import('../../../types/gatelink').Message} Message */

/**
 * What travels of a chat: many templates refuse two messages of the user in a row, so that what was said after a
 * message without an answer is its next paragraph.
 * @param {readonly Kept[]} chat @returns {Message[]}
 */
export function spoken(chat) {
  /** @type {Message[]} */
  const given = [];
  for (const { role, content } of travelling(chat)) {
    const last = given[given.length - 1];
    if (last?.role === 'user' && role === 'user') last.content += `\n\n${content}`;
    else given.push({ role, content });
  }
  return given;
}
