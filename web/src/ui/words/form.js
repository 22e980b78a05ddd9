// Replies in a form: how they are shown, and what is said of them.
import { isJson } from '../../settings/form.js';
import { whyEnded } from './explain.js';

/** @typedef {import('../../../types/gatelink').FormChoice} FormChoice */

/** @type {readonly (readonly [FormChoice['kind'] | 'free', string])[]} */
export const KINDS = [
  ['free', 'Free'], ['json_object', 'JSON object'], ['json_schema', 'JSON schema'], ['choice', 'Choices'], ['regex', 'Regular expression'],
];

/** What is typed for a form. @type {Record<string, {label: string, hint: string}>} */
export const TEXTS = {
  json_schema: { label: 'JSON schema', hint: 'Properties come in its order. What cannot be enforced is refused by name.' },
  choice: { label: 'Texts to choose from', hint: 'One a line: the reply is one of them.' },
  regex: { label: 'Pattern', hint: 'The whole reply matches it, as in [0-9]{4}-[0-9]{2}. No look-around.' },
};

/**
 * A reply as markdown: JSON is a block of code.
 * @param {string} text @param {unknown} form its kind, which may be anybody's
 */
export function shownReply(text, form) {
  if (!isJson(form) || !text) return text;
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/**
 * Why a reply ended, if it did not by itself.
 * @param {import('../../chats/types').ChatNode} node
 * @returns {string | null}
 */
export function whyReplyEnded({ content, reason, stats }) {
  const message = typeof stats?.message === 'string' ? stats.message : undefined;
  const form = stats?.form;
  if (form === undefined || message !== undefined) return whyEnded(reason, message);
  const whole = !isJson(form) || isWhole(content);
  if (reason === 'stop' && whole) return null;
  const why = whyEnded(reason, message);
  return why && !whole ? `${why} What is there is no whole JSON text.` : why;
}

/** @param {string} text */
function isWhole(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
