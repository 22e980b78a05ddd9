// The brightness of a message as it is kept: runs of code points of one brightness, each as two numbers of 16 bits, little
// endian (how many, and their brightness), in base64, as split_client.chat.brightness.runs has it.
import { BrightnessInvalid } from '../errors.js';
import { BORN } from './formula.js';

const LONGEST = 0xffff;
const BYTES = 4;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Of each code point. @param {Uint16Array} values @returns {string} '': all are as they began */
export function kept(values) {
  if (values.every((value) => value === BORN)) return '';
  /** @type {number[]} */
  const runs = [];
  for (let from = 0; from < values.length;) {
    let to = from + 1;
    while (to < values.length && to - from < LONGEST && values[to] === values[from]) to += 1;
    runs.push(to - from, values[from]);
    from = to;
  }
  return base64(runs);
}

/**
 * @param {string} text @param {number} length code points @returns {Uint16Array}
 * @throws {BrightnessInvalid} where it does not keep those of so many
 */
export function valuesIn(text, length) {
  const values = new Uint16Array(length).fill(BORN);
  if (!text) return values;
  let done = 0;
  for (const [count, value] of runsIn(text, length)) {
    if (count === 0 || done + count > length) throw new BrightnessInvalid('brightness is of other characters than there are');
    values.fill(value, done, done + count);
    done += count;
  }
  if (done !== length) throw new BrightnessInvalid('brightness is of fewer characters than there are');
  return values;
}

/**
 * Of a message that said `before` and says `after`: the beginning that both have keeps its brightness.
 * @param {string | undefined} text @param {string} before @param {string} after
 * @returns {string | undefined} undefined: as it began
 */
export function amendedBrightness(text, before, after) {
  if (!text) return undefined;
  const [said, says] = [[...before], [...after]];
  const differs = says.findIndex((point, at) => point !== said[at]);
  const same = differs < 0 ? says.length : differs;
  const values = new Uint16Array(says.length).fill(BORN);
  values.set(valuesIn(text, said.length).subarray(0, same));
  return kept(values) || undefined;
}

/**
 * The brightness of the part from code point `start` to `stop`: the mean of its brightest quarter, one code point at
 * least, rounded down. 0 for no code point.
 * @param {Uint16Array} values @param {number} start @param {number} stop exclusive @returns {number}
 */
export function partOf(values, start, stop) {
  const brightest = values.slice(start, stop).sort().reverse().subarray(0, Math.max(1, Math.floor((stop - start) / 4)));
  return Math.floor(brightest.reduce((sum, value) => sum + value, 0) / Math.max(1, brightest.length));
}

/** @param {number[]} numbers of 16 bits */
function base64(numbers) {
  const bytes = numbers.flatMap((number) => [number & 255, number >> 8]);
  let text = '';
  for (let i = 0; i < bytes.length; i += LONGEST) text += String.fromCharCode(...bytes.slice(i, i + LONGEST));
  return btoa(text);
}

/** @param {string} text @param {number} length @returns {[number, number][]} */
function runsIn(text, length) {
  // There are no more runs than code points.
  if (text.length > 4 * Math.ceil((BYTES * length) / 3)) throw new BrightnessInvalid('brightness is of more characters than there are');
  if (!BASE64.test(text)) throw new BrightnessInvalid('brightness is kept in base64');
  const bytes = atob(text);
  if (bytes.length % BYTES) throw new BrightnessInvalid('brightness is kept as pairs of numbers of 16 bits');
  const number = (/** @type {number} */ at) => bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8);
  return Array.from({ length: bytes.length / BYTES }, (_, i) => [number(BYTES * i), number(BYTES * i + 2)]);
}
