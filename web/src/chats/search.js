/** Words in chats, and the place where they stand. */
import { briefly } from './about.js';
import { path } from './tree.js';
import { folded } from './text.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').FoundChat} FoundChat */

const BEFORE = 16;
const AFTER = 60;

/**
 * What a list shows of a chat with all `words` in its title, system message or any branch; null
 * where one is missing. Without words: how the chat begins.
 * @param {Chat} chat @param {string[]} words
 * @returns {FoundChat|null}
 */
export function found(chat, words) {
  const wanted = words.map(folded);
  const texts = textsOf(chat);
  const title = folded(chat.title);
  const low = texts.map(({ content }) => folded(content));
  if (!wanted.every((word) => title.includes(word) || low.some((text) => text.includes(word)))) return null;
  const about = briefly(chat);
  for (const sought of new Set([wanted.join(' '), ...wanted])) {
    const at = sought ? low.findIndex((text) => text.includes(sought)) : -1;
    if (at >= 0) return { ...about, role: texts[at].role, line: context(texts[at].content, sought) };
  }
  return { ...about, ...firstLine(chat) };
}

/** The shown branch first: a place that can be seen at once is the better one. @param {Chat} chat */
function textsOf(chat) {
  const shown = path(chat);
  const ids = new Set(shown.map((node) => node.id));
  const others = Object.values(chat.nodes).filter((node) => !ids.has(node.id));
  /** @type {{role: 'user'|'assistant'|'system', content: string}[]} */
  const texts = [...shown, ...others];
  if (chat.system) texts.push({ role: 'system', content: chat.system });
  return texts;
}

/** @param {Chat} chat @returns {{role: 'user'|'assistant'|null, line: string}} */
function firstLine(chat) {
  for (const { role, content } of path(chat)) {
    const line = content.split('\n', 100).find((part) => part.trim());
    if (line) return { role, line: line.trim().slice(0, BEFORE + AFTER) };
  }
  return { role: null, line: '' };
}

/**
 * The place of `sought` (folded) on one line, with what stands around it.
 * @param {string} content @param {string} sought
 */
export function context(content, sought) {
  const [at, end] = place(content, sought);
  const start = wholeCharacter(content, Math.max(0, at - BEFORE));
  const stop = wholeCharacter(content, Math.min(content.length, end + AFTER));
  const text = content.slice(start, stop).split(/\s+/).filter(Boolean).join(' ');
  return `${start ? '…' : ''}${text}${stop < content.length ? '…' : ''}`;
}

/** Where it stands in the text as it was written: a letter may fold to several.
 * @param {string} content @param {string} sought */
function place(content, sought) {
  const whole = folded(content);
  const at = whole.indexOf(sought);
  if (whole.length === content.length) return [at, at + sought.length];
  let length = 0;
  let [first, last, index] = [0, content.length, 0];
  for (const letter of content) {
    if (length <= at) first = index;
    length += folded(letter).length;
    index += letter.length;
    if (length >= at + sought.length) {
      last = index;
      break;
    }
  }
  return [first, last];
}

/** @param {string} text @param {number} at */
function wholeCharacter(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
