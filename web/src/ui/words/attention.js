import { size } from './format.js';

const LONGEST_NAME = 20;

/**
 * Why replies come without attention.
 * @param {string} code
 * @returns {string}
 */
export function whyNoAttention(code) {
  switch (code) {
    case 'unsupported':
      return 'This server does not tell attention; replies come without it.';
    case 'attention_too_large':
      return 'The attention of this chat is too large for one answer; replies come without it.';
    default:
      return 'What keeps the attention could not be loaded; reload the page.';
  }
}

/**
 * What attention costs: 4 bytes for each layer and position, with each token.
 * @param {number | undefined} layers
 */
export function costOfAttention(layers) {
  const each = '4 bytes per layer and token of the chat so far';
  return layers ? `${each}: ${size(4 * layers * 1000)} per token after 1,000 tokens` : each;
}

/** A token between quotes, on one line; white space alone is made visible. @param {string} text */
export function nameOf(text) {
  const seen = text.trim() || text.replaceAll('\n', '↵').replaceAll('\t', '⇥').replaceAll(' ', '␣');
  return `“${[...seen.replace(/\s+/g, ' ')].slice(0, LONGEST_NAME).join('')}”`;
}

/** @param {number} share @returns {string} */
export function percent(share) {
  return `${(100 * share).toFixed(1)}%`;
}
