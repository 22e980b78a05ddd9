// The brightness of a chat's messages: by code point as it is kept, by UTF-16 unit as it is worked with.
import { turns } from '../tree.js';
import { BORN } from './formula.js';
import { kept, partOf, valuesIn } from './runs.js';
import { turnParts } from './turn_places.js';

/** @typedef {import('../types').Chat} Chat */

/**
 * Of each UTF-16 unit of a content; what cannot be its brightness counts as none.
 * @param {string} content @param {string | undefined} text @returns {Uint16Array}
 */
export function unitsOf(content, text) {
  const points = [...content];
  const values = valuesIn(isBrightness(text, content) ? text : '', points.length);
  const units = new Uint16Array(content.length);
  let at = 0;
  points.forEach((point, i) => {
    units.fill(values[i], at, at + point.length);
    at += point.length;
  });
  return units;
}

/** @param {string} content @param {Uint16Array} units @returns {string} '': as it began */
export function keptUnits(content, units) {
  let at = 0;
  return kept(Uint16Array.from([...content], (point) => units[(at += point.length) - point.length]));
}

/** Whether brightness can be read as that of a content. @param {unknown} text @param {string} content @returns {text is string} */
export function isBrightness(text, content) {
  try {
    return typeof text === 'string' && text !== '' && valuesIn(text, [...content].length).length >= 0;
  } catch {
    return false;
  }
}

/** Of each UTF-16 unit of each turn that a model is given. @param {Chat} chat @returns {Uint16Array[]} */
export function brightnessOfTurns(chat) {
  const parts = turnParts(chat);
  return turns(chat).map(({ content }, i) => {
    const units = new Uint16Array(content.length).fill(BORN);
    for (const { node, from, at, length } of parts[i]) units.set(unitsIn(chat, node).subarray(at, at + length), from);
    return units;
  });
}

/**
 * The chat with what its turns are by now; a message that has changed since keeps what it has.
 * @param {Chat} chat @param {import('./turn_places.js').Part[][]} parts of those turns @param {(Uint16Array | null)[]} turns
 * @returns {Chat}
 */
export function withBrightness(chat, parts, turns) {
  /** @type {Map<string | null, Uint16Array>} */
  const known = new Map();
  turns.forEach((units, i) => {
    for (const { node, from, at, length, whole } of (units && parts[i]) || []) {
      if (contentOf(chat, node)?.length !== whole) continue;
      const own = known.get(node) ?? unitsIn(chat, node);
      own.set(/** @type {Uint16Array} */ (units).subarray(from, from + length), at);
      known.set(node, own);
    }
  });
  const nodes = { ...chat.nodes };
  let systemBrightness = chat.systemBrightness;
  for (const [node, units] of known) {
    const brightness = keptUnits(contentOf(chat, node) ?? '', units) || undefined;
    if (node === null) systemBrightness = brightness;
    else if (nodes[node].brightness !== brightness) nodes[node] = { ...nodes[node], brightness };
  }
  return { ...chat, nodes, ...(systemBrightness && { systemBrightness }) };
}

/** Of each UTF-16 unit of a message. @param {Chat} chat @param {string | null} node null: the system prompt */
export function unitsIn(chat, node) {
  return unitsOf(contentOf(chat, node) ?? '', node === null ? chat.systemBrightness : chat.nodes[node]?.brightness);
}

/** @param {Chat} chat @param {string | null} node @returns {string | undefined} */
function contentOf(chat, node) {
  return node === null ? chat.system : chat.nodes[node]?.content;
}

/**
 * The brightness of a part of a message, `from` to `to` (exclusive) in UTF-16 units; 32,768 where none was gathered.
 * @param {Chat} chat @param {string | null} node null: the system prompt @param {{from: number, to: number}} unit
 * @returns {number} 0 to 65,535
 */
export function unitBrightness(chat, node, { from, to }) {
  const content = contentOf(chat, node) ?? '';
  const brightness = node === null ? chat.systemBrightness : chat.nodes[node]?.brightness;
  // By code point, as it is kept: a character of two units counts once.
  const before = [...content.slice(0, from)].length;
  const values = valuesIn(isBrightness(brightness, content) ? brightness : '', [...content].length);
  return partOf(values, before, before + [...content.slice(from, to)].length);
}
