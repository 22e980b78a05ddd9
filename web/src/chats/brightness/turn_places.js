// Where the messages of a chat stand in what the model is given: the same rule as `turns` of ../tree.js.
import { segments } from '../context/ranges.js';
import { isGone, placed } from '../context/travelling.js';
import { kept, path } from '../tree.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').Kept} Kept */
/**
 * `length` UTF-16 units of a turn from `from` on are those of a node's content from `at` on; node null: the system
 * message. `whole`: units of that content.
 * @typedef {{node: string | null, from: number, at: number, length: number, whole: number}} Part
 */

const BETWEEN = '\n\n'.length;

/** The messages that each of a chat's turns is made of, without what does not travel. @param {Chat} chat @returns {Part[][]} */
export function turnParts(chat) {
  const all = kept(chat);
  const nodes = [...(chat.system ? [null] : []), ...path(chat).map(({ id }) => id)];
  /** @type {Part[][]} */
  const turns = [];
  let before = { role: '', end: 0 };
  for (const { index, message } of placed(all)) {
    const { role, content } = message;
    const joins = before.role === 'user' && role === 'user';
    const from = joins ? before.end + BETWEEN : 0;
    const parts = partsOf(all[index], content, nodes[index], from);
    if (joins) turns[turns.length - 1].push(...parts);
    else turns.push(parts);
    before = { role, end: from + content.length };
  }
  return turns;
}

/** @param {Kept} message @param {string} sent of it @param {string | null} node @param {number} from @returns {Part[]} */
function partsOf(message, sent, node, from) {
  const { content, dropped = [] } = message;
  const whole = content.length;
  if (sent === content) return [{ node, from, at: 0, length: whole, whole }];
  if (isGone(message)) return [];
  let [at, next] = [0, from];
  return segments(content, dropped).flatMap(({ text: { length }, range }) => {
    const part = { node, from: next, at, length, whole };
    at += length;
    if (!range) next += length;
    return range ? [] : [part];
  });
}
