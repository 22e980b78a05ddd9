// Surrogates within a bare address, which renderers make a link of.
import { RULES } from '../rules.js';

// Characters behind a surrogate that may belong to an address; what is longer counts as one.
export const MOST_BEHIND = 256;
const BEHIND = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~:\-]*/y;
const SPACE = ' \t\n\r';
const MAILBOX = /[A-Za-z0-9._%+\-]@/;
const DOMAIN = /[A-Za-z0-9\-]\.[A-Za-z]{2,24}[/?#:]/;
const GOES_ON = /^[^/?#]*\.[A-Za-z]{2,24}[/?#]/;
const SCHEME = new RegExp(`(?<![A-Za-z0-9])(?:${[...RULES.schemes, 'www.'].map((each) => each.replace('.', '\\.')).join('|')})`, 'i');

/** @param {string} before what stands before a surrogate, from white space on @param {string} behind what follows */
export function inAddress(before, behind) {
  return begins(before) || ends(behind);
}

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

/** @param {string} before */
function begins(before) {
  return before.includes('//') || before.includes('\\\\') || MAILBOX.test(before) || DOMAIN.test(before) || SCHEME.test(before);
}

/** @param {string} behind */
function ends(behind) {
  const run = runOf(behind);
  if (run.length >= MOST_BEHIND || run.includes('//')) return true;
  return behind.startsWith('@', run.length) || GOES_ON.test(run);
}

/** @param {string} behind */
function runOf(behind) {
  BEHIND.lastIndex = 0;
  return BEHIND.exec(behind)?.[0] ?? '';
}
