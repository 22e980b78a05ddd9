// Guesses at what follows, and what a step told that carried one. Python has the same rules in the same rooms
// (device_client/split_client/generation/speculation); tests/vectors/drafts.json drives both.

/** @typedef {readonly number[]} Tokens */
/**
 * Tokens that may follow. `match`: how many tokens before them the guess hangs on; with `source` the class whose
 * acceptance is counted.
 * @typedef {{source: string, tokens: Tokens, match: number}} Draft
 */
/**
 * What a step of `rows` took, of which `returned` states came back. Seconds: `seconds` from before it was sent until its
 * answer was here, of which `compute` was the server's pass and `queue` its queue.
 * @typedef {{rows: number, returned: number, seconds: number, compute: number, queue: number}} StepCost
 */
/**
 * Where guesses come from.
 * @typedef {object} DraftSource
 * @property {string} name of the kind of source
 * @property {(tokens: Tokens) => void} follow the chat is exactly `tokens`: what it was and more, or cut back and more
 * @property {(most: number) => Draft | null} draft a guess at what follows, of 1 to `most` tokens
 */

/** @type {Draft} */
export const NO_DRAFT = { source: 'none', tokens: [], match: 0 };

/** The first `count` tokens of a draft. @param {Draft} draft @param {number} count @returns {Draft} */
export function firstOf(draft, count) {
  return { ...draft, tokens: draft.tokens.slice(0, count) };
}
