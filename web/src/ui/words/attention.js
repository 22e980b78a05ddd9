import { decimal, size } from './format.js';
import { t } from './languages/words.js';

const LONGEST_NAME = 20;

/**
 * Why replies come without attention.
 * @param {string} code
 * @returns {string}
 */
export function whyNoAttention(code) {
  switch (code) {
    case 'unsupported':
      return t('This server does not tell attention; replies come without it.');
    case 'attention_too_large':
      return t('The attention of this chat is too large for one answer; replies come without it.');
    case 'attention_invalid':
      return t('The server told attention that cannot be true; the reply goes on without it.');
    default:
      return t('What keeps the attention could not be loaded; reload the page.');
  }
}

/**
 * What attention costs with each token: its largest weights, or from a server that cannot choose those 4 bytes for each
 * layer and position.
 * @param {number | undefined} layers
 */
export function costOfAttention(layers) {
  if (!layers) return t('at most 600 B per token');
  return t('at most 600 B per token, from an older server {size} per token after 1,000 tokens', {
    size: size(4 * layers * 1000),
  });
}

/** A token between quotes, on one line; white space alone is made visible. @param {string} text */
export function nameOf(text) {
  const seen = text.trim() || text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replaceAll(' ', '␣');
  return t('“{text}”', { text: [...seen.replace(/\s+/g, ' ')].slice(0, LONGEST_NAME).join('') });
}

/** @param {number} share @returns {string} */
export function percent(share) {
  return t('{n}%', { n: decimal(100 * share, 1) });
}

/** Before what a token looked at is listed. @param {string} token its name @returns {string} */
export function lookedAt(token) {
  return t('To choose {token}, it looked at', { token });
}

/** What is on no token of the text. @param {{first: number, template: number}} shares @returns {string} */
export function restInWords({ first, template }) {
  return t('{first} on the first position, {template} on the chat template.', {
    first: percent(first), template: percent(template),
  });
}
