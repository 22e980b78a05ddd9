// What is known of a chat's attention, as JSON.
import { brightnessOf } from './levels.js';

/** @typedef {import('./tinted_chat.js').TintedChat} TintedChat */
/** @typedef {import('./tint.js').Looked} Looked */
/**
 * `position` of the token that was chosen; the largest `weights` of those before it, and their `positions`.
 * @typedef {{position: number, positions: number[], weights: number[]}} KeptRow
 */

/**
 * @param {TintedChat} chat @param {Looked | null} looked @param {KeptRow[]} rows
 */
export function numbersOf(chat, looked, rows) {
  const brightness = brightnessOf(chat);
  return {
    format: 'gatelink.attention',
    version: 1,
    model: chat.chat.model,
    positions: chat.positions,
    messages: [...chat.messages.values()].sort((one, other) => one.number - other.number),
    tokens: chat.pieces.map(({ start, stop, number, at, length }, i) => ({
      start, stop, message: number, at, length, text: chat.textOf(i), brightness: brightness[i],
    })),
    rows,
    shown: looked?.shares ? shownIn(chat, looked, looked.shares) : null,
  };
}

/** @param {TintedChat} chat @param {Looked} looked @param {import('./places.js').Shares} shares */
function shownIn(chat, { piece, alone }, shares) {
  const { start } = chat.pieces[piece];
  const told = [...shares.pieces].map((share, i) => ({ token: i, share })).filter(({ share }) => share > 0);
  return { position: start, head: alone, first: shares.first, template: shares.template, shares: told };
}
