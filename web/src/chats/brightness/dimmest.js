// The order in which the parts of a chat are left out by their brightness, as split_client.chat.brightness.dimmest:
// what the model said counts half.
import { CodePoints } from '../context/code_points.js';
import { candidates } from '../context/pruning.js';
import { isBrightness } from './kept.js';
import { partOf, valuesIn } from './runs.js';

/** @typedef {import('../types').Kept} Kept */
/** @typedef {import('../context/pruning.js').Place} Place */

const OF_A_REPLY = 2;

/**
 * What a policy may drop, the dimmest first, of equally dim parts the oldest; the oldest where no reply has looked at any.
 * @param {readonly Kept[]} chat @returns {Place[]}
 */
export function dimmest(chat) {
  if (!chat.some(({ brightness }) => brightness)) return candidates(chat);
  /** @type {Map<number, Uint16Array>} */
  const known = new Map();
  const brightnessOf = (/** @type {Place} */ { index, unit: { start, stop } }) => {
    const values = known.get(index) ?? valuesOf(chat[index]);
    known.set(index, values);
    const bright = partOf(values, start, stop);
    return chat[index].role === 'assistant' ? Math.floor(bright / OF_A_REPLY) : bright;
  };
  const places = candidates(chat).map((place) => ({ place, bright: brightnessOf(place) }));
  return places.sort((one, other) => one.bright - other.bright).map(({ place }) => place);
}

/** Of each code point; what cannot be the brightness of a message counts as none. @param {Kept} message */
function valuesOf({ content, brightness }) {
  return valuesIn(isBrightness(brightness, content) ? brightness : '', new CodePoints(content).length);
}
