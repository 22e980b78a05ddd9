// Normalizers, which change a text before it is split: NFC, Prepend and Replace.
import { flatten, invalid, isRecord, textOf } from './component.js';
import { nfc } from '../unicode/nfc.js';

/** @typedef {(text: string) => string} Normalizer */

const ROOM = 'normalizer';
// A text must not grow without bound.
const MAX_INSERTED = 16;
const MAX_GROWTH = 4;

/**
 * @param {unknown} value as in tokenizer.json
 * @returns {{normalize: Normalizer, prepends: boolean}} prepends: the text may begin with what no input had
 * @throws {import('../errors.js').TokenizerInvalid}
 */
export function readNormalizer(value) {
  const parts = flatten(value, ROOM, 'normalizers');
  const steps = parts.map(step);
  refuseGrowth(parts, ROOM);
  return {
    normalize: (text) => steps.reduce((current, each) => each(current), text),
    prepends: parts.some((part) => part.type === 'Prepend'),
  };
}

/** @param {import('./component.js').Component} part @returns {Normalizer} */
function step(part) {
  if (part.type === 'NFC') return nfc;
  if (part.type === 'Prepend') {
    const start = shortText(part, 'prepend');
    return (text) => (text ? start + text : text);
  }
  if (part.type === 'Replace') {
    const [from, to] = [replacedText(part, ROOM), shortText(part, 'content')];
    return (text) => text.replaceAll(from, () => to);
  }
  throw invalid(ROOM, part.type);
}

/**
 * Refuses Replaces that together make a text much longer: one after the other they multiply.
 * @param {import('./component.js').Component[]} parts @param {string} room
 */
export function refuseGrowth(parts, room) {
  let growth = 1;
  for (const part of parts) {
    if (part.type !== 'Replace') continue;
    growth *= Math.max(textOf(part, 'content', room).length / replacedText(part, room).length, 1);
  }
  if (growth > MAX_GROWTH) throw invalid(room, 'Replace that makes texts longer');
}

/** @param {import('./component.js').Component} part @param {string} key */
function shortText(part, key) {
  const text = textOf(part, key, ROOM);
  if (text.length > MAX_INSERTED) throw invalid(ROOM, `${part.type}, ${key}`);
  return text;
}

/**
 * What a Replace looks for; patterns are refused.
 * @param {import('./component.js').Component} part @param {string} room
 */
export function replacedText(part, room) {
  const pattern = part.pattern;
  if (!isRecord(pattern) || typeof pattern.String !== 'string' || !pattern.String) {
    throw invalid(room, 'Replace with a pattern');
  }
  return pattern.String;
}
