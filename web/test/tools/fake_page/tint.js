// The tokens of whole chats without a model: the same words as in attention.js.
import { FakeReplyAttention } from './attention.js';

const LAYERS = 4;
const HEADS = 6;

/** @param {{role: string, content: string}[]} messages @returns {any} as EngineClient.chatTokens */
export function fakeTokens(messages) {
  /** @type {number[][]} */
  const parts = [];
  let position = 0;
  messages.forEach(({ content }, message) => {
    position += 2;
    for (const { 0: text, index } of content.matchAll(/\s*\S+/g)) parts.push([position++, message, index, text.length]);
    position += 2;
  });
  const column = (/** @type {number} */ i) => Int32Array.from(parts, (part) => part[i]);
  const start = column(0);
  return { positions: position, start, stop: start.map((each) => each + 1), message: column(1), at: column(2), length: column(3) };
}

/** Rows that differ from head to head. @param {any} wish @returns {any} as EngineClient.heads */
export function fakeHeads({ messages, position }) {
  const attention = new FakeReplyAttention(messages);
  attention.promptTokens = 0;
  const weights = new Float32Array(LAYERS * HEADS * position);
  for (let row = 0; row < LAYERS * HEADS; row++) {
    const from = (row * position) / (LAYERS * HEADS);
    const own = attention.row(position).map((weight, i) => weight * (Math.abs(i - from) < position / 8 ? 5 : 0.2));
    const sum = own.reduce((total, weight) => total + weight, 0);
    weights.set(own.map((weight) => weight / sum), row * position);
  }
  return { layers: LAYERS, heads: HEADS, weights, sent: 1 };
}

/** All levels in turns, three words each. @param {{content: string}[]} messages @returns {(Uint16Array | null)[]} */
export function fakeBrightness(messages) {
  return messages.map(({ content }, message) => {
    if (message === messages.length - 1) return null;
    const units = new Uint16Array(content.length);
    [...content.matchAll(/\s*\S+/g)].forEach(({ 0: text, index }, word) => {
      units.fill([60_000, 25_000, 15_000, 3_000][Math.floor(word / 3) % 4], index, index + text.length);
    });
    return units;
  });
}
