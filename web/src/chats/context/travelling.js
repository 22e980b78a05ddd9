/**
 * What of a chat the model is given: its messages without what was dropped of them.
 *
 * A message of which nothing is left stays as a mark, because templates want the roles of a turn; a turn of which
 * nothing is left does not travel at all. The turn that is to be answered is whole.
 */
import { leftOf } from './ranges.js';

/** @typedef {import('../types').Kept} Kept */
/** A message that travels, and its number in the chat, from 0. @typedef {{index: number, message: Kept}} Placed */

const MARK = '…';
// What Python's str.strip takes for white space.
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/** `chat` as the model is given it. @param {readonly Kept[]} chat @returns {Kept[]} */
export function travelling(chat) {
  return placed(chat).map(({ message }) => message);
}

/** The same with their numbers. @param {readonly Kept[]} chat @returns {Placed[]} */
export function placed(chat) {
  const all = chat.map((message, index) => ({ index, message }));
  if (!chat.some(hasDropped)) return all;
  const asked = ['user', 'tool'].includes(chat[chat.length - 1].role);
  const turns = turnsOf(all);
  return turns.flatMap((turn, number) => {
    if (asked && number === turns.length - 1) return turn.map(({ index, message }) => ({ index, message: whole(message) }));
    return turn.every(({ message }) => isGone(message)) ? [] : turn.map(sent);
  });
}

/**
 * The system message, and from each message of the user to the end of what answers it.
 * @param {readonly Placed[]} chat @returns {Placed[][]}
 */
export function turnsOf(chat) {
  /** @type {Placed[][]} */
  const turns = [];
  for (const each of chat) {
    const last = turns[turns.length - 1];
    const begins = !last || each.message.role === 'user' || last[last.length - 1].message.role === 'system';
    if (begins) turns.push([each]);
    else last.push(each);
  }
  return turns;
}

/** Whether it has no text, or none that is left. @param {Kept} message */
export function isGone(message) {
  return !message.content || (hasDropped(message) && BLANK.test(leftOf(message)));
}

/** @param {Placed} placed */
function sent({ index, message }) {
  if (!hasDropped(message)) return { index, message };
  const { sent: _, ...rest } = whole(message);
  return { index, message: { ...rest, content: isGone(message) ? MARK : leftOf(message) } };
}

/** @param {Kept} message */
function whole({ dropped: _, ...message }) {
  return message;
}

/** @param {Kept} message */
function hasDropped({ dropped }) {
  return dropped !== undefined && dropped.length > 0;
}
