// What crosses between a page and the worker that looks at its texts.

/** @typedef {import('../alignment.js').Piece} Piece */
/** @typedef {import('../entries.js').Entry} Entry */
/** Whose texts they are. @typedef {import('../redactor.js').Settings & {secret: Uint8Array, entries: readonly Entry[]}} ChatMap */
/**
 * `redact`: texts in their order, with the chat's; `values`: what is found in texts. `counted` answers the worker's question,
 * `uncounted` says that there will be no answer.
 * @typedef {{type: 'redact', id: number, map: ChatMap, texts: readonly string[], chat: readonly string[]}
 *   | {type: 'values', id: number, map: ChatMap, texts: readonly string[]}} Asked
 */
/** @typedef {{type: 'counted', id: number, lengths: number[]} | {type: 'uncounted', id: number}} Counted */
/** @typedef {{made: {text: string, pieces: readonly Piece[]}[], learnt: readonly Entry[]}} Made */
/**
 * `count`: how many tokens each text has is to be told before the rest.
 * @typedef {{id: number, count: string[]} | {id: number, result: Made | string[]}
 *   | {id: number, error: {code: string, message: string, retryable: boolean}}} Answer
 */

export {};
