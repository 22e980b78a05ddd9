// Bytes that a language treats alike at its beginning.
import { bodyOf } from './expressions.js';
import { oneOf } from './byte_set.js';

/** @typedef {import('./expressions.js').Expression} Expression */

/**
 * One byte of each class; bytes that look best come first.
 * @param {Expression} of
 * @returns {number[]}
 */
export function classesOf(of) {
  return countedClassesOf(of).map(([byte]) => byte);
}

/** With each the number of bytes in its class. @param {Expression} of @returns {[number, number][]} */
export function countedClassesOf(of) {
  /** @type {Map<string, Uint32Array>} */
  const sets = new Map();
  const singles = new Set();
  collect(of, sets, singles, new Set());
  /** @type {Map<string, [number, number]>} */
  const classes = new Map();
  for (const byte of ORDER) {
    let signature = singles.has(byte) ? `=${byte} ` : '';
    for (const set of sets.values()) signature += oneOf(set, byte) ? 1 : 0;
    const known = classes.get(signature);
    if (known) known[1] += 1;
    else classes.set(signature, [byte, 1]);
  }
  return [...classes.values()];
}

/**
 * @param {Expression} of @param {Map<string, Uint32Array>} sets @param {Set<number>} singles
 * @param {Set<Expression>} seen
 */
function collect(of, sets, singles, seen) {
  if (seen.has(of)) return;
  seen.add(of);
  if (of.kind === 'bare') singles.add(32);
  if (of.kind === 'text') singles.add(of.text.charCodeAt(0));
  else if (of.set) sets.set(of.set.join(), of.set);
  else if (of.kind === 'ref') collect(bodyOf(of), sets, singles, seen);
  else if (of.kind === 'cat') {
    collect(of.parts[0], sets, singles, seen);
    if (of.parts[0].nullable) collect(of.parts[1], sets, singles, seen);
  } else for (const part of of.parts) collect(part, sets, singles, seen);
}

const ORDER = [...'0a-A "{}[],:'].map((letter) => letter.charCodeAt(0));
for (let byte = 0; byte < 256; byte++) if (!ORDER.includes(byte)) ORDER.push(byte);
