// How dim the pieces of a chat are shown.
import { unitsIn } from '../../../chats/brightness/kept.js';

/** @typedef {import('./tinted_chat.js').TintedChat} TintedChat */
/**
 * How much of a chat has faded: shares of its tokens by level, and its dimmest sentences.
 * @typedef {{shares: number[], dimmest: {node: string | null, number: number, role: string, from: number, to: number,
 *   text: string, bright: number}[]}} Faded
 */

// A token begins at half of the brightest, 32,768. Below each of these a level begins.
const BEGINNINGS = [28_672, 16_384, 8_192];
const MOST_NAMED = 5;

/** The brightness of each piece: of the first character that it wrote. @param {TintedChat} chat @returns {Uint16Array} */
export function brightnessOf(chat) {
  /** @type {Map<string | null, Uint16Array>} */
  const known = new Map();
  return Uint16Array.from(chat.pieces, ({ node, at }) => {
    const units = known.get(node) ?? unitsIn(chat.chat, node);
    known.set(node, units);
    return units[at];
  });
}

/** 0 bright to 3 dimmest, of each piece. @param {TintedChat} chat @returns {Uint8Array} */
export function dimLevels(chat) {
  return Uint8Array.from(brightnessOf(chat), (value) => BEGINNINGS.filter((begins) => value < begins).length);
}

/** @param {TintedChat} chat @returns {Faded} */
export function fadedIn(chat) {
  const levels = dimLevels(chat);
  // Counted first: sums of fractions are not quite 1.
  const counts = [0, 0, 0, 0];
  for (const level of levels) counts[level] += 1;
  const shares = counts.map((count) => count / Math.max(1, levels.length));
  return { shares, dimmest: dimmestIn(chat) };
}

/** The dimmest sentences of which something has faded, in the mean of their tokens. @param {TintedChat} chat */
function dimmestIn(chat) {
  const values = brightnessOf(chat);
  /** @type {Map<string, {node: string | null, from: number, to: number, sum: number, count: number}>} */
  const found = new Map();
  chat.pieces.forEach(({ node }, i) => {
    const { from, to } = chat.sentenceOf(i);
    const key = `${node} ${from}`;
    const own = found.get(key) ?? { node, from, to, sum: 0, count: 0 };
    own.sum += values[i];
    own.count += 1;
    found.set(key, own);
  });
  const means = [...found.values()].map(({ sum, count, ...place }) => ({ ...place, bright: sum / count }));
  return means.filter(({ bright }) => bright < BEGINNINGS[0]).sort((one, other) => one.bright - other.bright)
    .slice(0, MOST_NAMED).flatMap((place) => {
      const message = chat.messages.get(place.node);
      if (!message) return [];
      const { number, role, content } = message;
      return [{ ...place, number, role, text: content.slice(place.from, place.to) }];
    });
}
