// Surrogates within a bare address, which renderers make a link of.
import { RULES } from '../rules.js';

// Characters behind a surrogate that may belong to an address; what is longer counts as one.
export const MOST_BEHIND = 256;
const BEHIND = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~:\-]*/y;
const SPACE = ' \t\n\r';
const MAILBOX = /[A-Za-z0-9._%+\-]@/g;
const DOMAIN = /[A-Za-z0-9\-]\.[A-Za-z]{2,24}[/?#:]/g;
const GOES_ON = /^[^/?#]*\.[A-Za-z]{2,24}[/?#]/;
const SCHEME = new RegExp(`(?<![A-Za-z0-9])(?:${[...RULES.schemes, 'www.'].map((each) => each.replace('.', '\\.')).join('|')})`, 'gi');

/** The characters that a text ends with since its last white space. @param {string} text */
export function runAtEnd(text) {
  let at = text.length;
  while (at > 0 && !SPACE.includes(text[at - 1])) at -= 1;
  return text.slice(at);
}

/** Whether no character that may still come behind makes another address of it. @param {string} behind */
export function isSettled(behind) {
  const { length } = runOf(behind);
  return length < behind.length || length >= MOST_BEHIND;
}

/** Whether an address begins at a place, or behind it, in a run without white space. @param {string} run @param {number} [at] */
export function beginsAddress(run, at = 0) {
  if (run.includes('//', at) || run.includes('\\\\', at)) return true;
  return [MAILBOX, DOMAIN, SCHEME].some((each) => {
    each.lastIndex = at;
    return each.test(run);
  });
}

/** Whether what follows a surrogate makes an address of it. @param {string} behind */
export function makesAddress(behind) {
  const run = runOf(behind);
  if (run.length >= MOST_BEHIND || run.includes('//')) return true;
  return behind.startsWith('@', run.length) || GOES_ON.test(run);
}

/** @param {string} behind */
function runOf(behind) {
  BEHIND.lastIndex = 0;
  return BEHIND.exec(behind)?.[0] ?? '';
}
