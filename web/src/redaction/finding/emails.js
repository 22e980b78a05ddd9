import { RULES, pattern } from '../rules.js';

/** @param {import('./looked.js').Looked} looked @returns {Generator<import('../kinds.js').Found>} */
export function* emails(looked) {
  if (!looked.text.includes('@')) return;
  for (const { 0: whole, index } of looked.text.matchAll(pattern(RULES.email, 'g'))) {
    const end = index + whole.length;
    yield looked.found('email', looked.lower.slice(index, end), index, end);
  }
}
