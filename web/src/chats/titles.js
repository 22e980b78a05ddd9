/** Names of chats. */
import { wellFormed } from './text.js';

export const LONGEST_TITLE = 200;
const WORDS = 6;
const LONGEST_MADE = 48;
// Control characters and those that reorder text (UAX 9) would spoil a list.
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/**
 * A name for a chat that begins with `message`: its first words. '' where it has none.
 * @param {string} message
 */
export function titleOf(message) {
  const words = message.slice(0, 400).replace(UNFIT, ' ').split(/\s+/).filter(Boolean);
  const title = [...words.slice(0, WORDS).join(' ')].slice(0, LONGEST_MADE).join('');
  return title.replace(/[ .,;:]+$/, '');
}

/**
 * What a person typed as a name, on one line and not longer than LONGEST_TITLE characters.
 * @param {string} text
 */
export function tidyTitle(text) {
  const words = wellFormed(text).slice(0, 4 * LONGEST_TITLE).replace(UNFIT, ' ').split(/\s+/);
  return [...words.filter(Boolean).join(' ')].slice(0, LONGEST_TITLE).join('');
}
