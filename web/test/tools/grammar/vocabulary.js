// A vocabulary of a given size, made up: every byte, the embedded model's tokens, then words, numbers, indents and what
// code and JSON are written with, the most likely shapes of real ones.
import { readFileSync } from 'node:fs';
import { randomNumbers } from '../../generation/random.js';

const FILE = new URL('../../../../server/split_server/embedded/tokenizer.json', import.meta.url);
const SYLLABLES = 'ba be bi bo da de di do fa fe ga go ha he in ka ke la le li lo ma me mi mo na ne no pa po ra re ri ro sa se so ta te ti to un va ve wa we yo za ü ä é ный 中 の'.split(' ');
const MARKS = ['"', '":', '",', '"}', '},', '],', '{"', '["', '": "', '", "', '": ', '()', '();', '=>', '==', '\\n', '\\"', '.', ', ', '/', '_'];

/** Bytes of `rows` tokens, the last of which ends a reply. @param {number} rows */
export function madeUp(rows) {
  const texts = new Set(Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)));
  for (const token of Object.keys(JSON.parse(readFileSync(FILE, 'utf8')).model.vocab)) texts.add(bytesOf(token.replaceAll('Ġ', ' ').replaceAll('Ċ', '\n')));
  for (let number = 0; number < 1000; number++) texts.add(String(number));
  for (let width = 1; width < 80; width++) texts.add(' '.repeat(width)).add(`\n${' '.repeat(width)}`);
  const next = randomNumbers(1);
  const one = (/** @type {string[]} */ of) => of[Math.floor(next() * of.length)];
  while (texts.size < rows - 1) {
    const word = Array.from({ length: 1 + Math.floor(next() * 4) }, () => one(SYLLABLES)).join('');
    const shape = next();
    const cased = shape < 0.2 ? word[0].toUpperCase() + word.slice(1) : word;
    texts.add(bytesOf(shape < 0.55 ? ` ${cased}` : shape < 0.9 ? cased : one(MARKS) + (shape < 0.95 ? '' : word)));
  }
  return { ...packed([...texts, '']), eos: [rows - 1] };
}

/** @param {string[]} texts */
function packed(texts) {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, id) => (offsets[id + 1] = offsets[id] + text.length));
  return { bytes: Uint8Array.from([...texts.join('')], (unit) => unit.charCodeAt(0)), offsets };
}

/** @param {string} text @returns {string} UTF-8, one unit a byte */
function bytesOf(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
