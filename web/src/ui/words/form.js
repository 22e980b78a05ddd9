// Replies in a form: how they are shown, and what is said of them.
import { isJson } from '../../settings/form.js';
import { whyEnded } from './explain.js';
import { t } from './languages/words.js';

/** @typedef {import('../../../types/gatelink').FormChoice} FormChoice */

/** @returns {readonly (readonly [FormChoice['kind'] | 'free', string])[]} */
export function kinds() {
  return [
    ['free', t('Free')], ['json_object', t('JSON object')], ['json_schema', t('JSON schema')],
    ['choice', t('Choices')], ['regex', t('Regular expression')],
  ];
}

/** @param {string} kind of a form @returns {{label: string, hint: string} | null} what is typed for it; null: nothing */
export function textsOf(kind) {
  switch (kind) {
    case 'json_schema': {
      const hint = t('Properties come in its order. What cannot be enforced is refused by name.');
      return { label: t('JSON schema'), hint };
    }
    case 'choice':
      return { label: t('Texts to choose from'), hint: t('One a line: the reply is one of them.') };
    case 'regex':
      return { label: t('Pattern'), hint: t('The whole reply matches it, as in [0-9]{4}-[0-9]{2}. No look-around.') };
    default:
      return null;
  }
}

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
  return why && !whole ? `${why} ${t('What is there is no whole JSON text.')}` : why;
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
