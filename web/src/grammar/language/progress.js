// Whether every named part of a language writes a byte before it comes to itself again.
import { FormEndless } from '../errors.js';
import { bodyOf } from './expressions.js';
import { refsBelow } from './shortest.js';

/** @typedef {import('./expressions.js').Expression} Expression */

/** @param {Expression} root @throws {FormEndless} where one begins with itself, which no text can follow */
export function requireProgress(root) {
  const done = new Set();
  for (const ref of refsBelow(root)) follow(ref, done, new Set());
}

/** @param {Expression} ref @param {Set<Expression>} done @param {Set<Expression>} above */
function follow(ref, done, above) {
  if (done.has(ref)) return;
  if (above.has(ref)) throw new FormEndless();
  above.add(ref);
  for (const inner of first(bodyOf(ref))) follow(inner, done, above);
  above.delete(ref);
  done.add(ref);
}

/** Refs that it may begin with. @param {Expression} start @returns {Expression[]} */
function first(start) {
  const seen = new Set([start]);
  const refs = [];
  for (const of of seen) {
    if (of.kind === 'ref') refs.push(of);
    else if (of.kind === 'cat') {
      seen.add(of.parts[0]);
      if (of.parts[0].nullable) seen.add(of.parts[1]);
    } else for (const part of of.parts) seen.add(part);
  }
  return refs;
}
