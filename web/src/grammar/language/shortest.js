// How short a text of a language can be, and which one is that short.
import { FormTooCostly } from '../errors.js';
import { MAX_REFS, MAX_STATES } from '../limits.js';
import { bodyOf } from './expressions.js';
import { classesOf } from './classes.js';

/** @typedef {import('./expressions.js').Expression} Expression */
/** @typedef {(of: Expression) => number} Measure */

/**
 * Finds for every ref below `root` how short its texts are: by turns until nothing changes, as refs contain each other.
 * Nothing may have been measured before.
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} root
 */
export function settleRefs(expressions, root) {
  const refs = refsBelow(root).reverse();
  const lengths = new Map(refs.map((ref) => [ref, Infinity]));
  for (let changed = true; changed;) {
    changed = false;
    for (const ref of refs) {
      const length = measuredAnew(expressions, bodyOf(ref), lengths);
      if (length < /** @type {number} */ (lengths.get(ref))) {
        lengths.set(ref, length);
        changed = true;
      }
    }
  }
  for (const [ref, length] of lengths) ref.least = length;
}

/**
 * Whether there is no text even if every ref that contains itself had one.
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} root
 */
export function isImpossible(expressions, root) {
  const refs = refsBelow(root).reverse();
  const lengths = new Map(refs.map((ref) => [ref, 1]));
  for (let changed = true; changed;) {
    changed = false;
    for (const ref of refs) {
      if (lengths.get(ref) === Infinity || measuredAnew(expressions, bodyOf(ref), lengths) < Infinity) continue;
      lengths.set(ref, Infinity);
      changed = true;
    }
  }
  return measuredAnew(expressions, root, lengths) === Infinity;
}

/**
 * Bytes of the shortest text; infinite where there is none. Once its refs are settled.
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} of
 * @returns {number}
 */
export function shortest(expressions, of) {
  of.least ??= measured(expressions, of, (part) => shortest(expressions, part));
  return of.least;
}

/**
 * One of the shortest texts, or its beginning, as bytes: one UTF-16 unit each.
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} of @param {number} most bytes
 */
export function shortestText(expressions, of, most) {
  let text = '';
  while (text.length < most && shortest(expressions, of) > 0) {
    const head = of.kind === 'cat' ? of.parts[0] : of;
    if (head.kind === 'text') {
      text += head.text;
      of = of.kind === 'cat' ? of.parts[1] : expressions.empty;
      continue;
    }
    const left = shortest(expressions, of) - 1;
    const byte = classesOf(of).find((each) => shortest(expressions, expressions.after(of, each)) === left);
    if (byte === undefined) break;
    text += String.fromCharCode(byte);
    of = expressions.after(of, byte);
  }
  return text.slice(0, most);
}

/**
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} start
 * @param {Map<Expression, number>} lengths of refs
 */
function measuredAnew(expressions, start, lengths) {
  /** @type {Map<Expression, number>} */
  const known = new Map();
  const measure = (/** @type {Expression} */ of) => {
    const length = lengths.get(of) ?? known.get(of) ?? measured(expressions, of, measure);
    known.set(of, length);
    return length;
  };
  return measure(start);
}

/**
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} of @param {Measure} measure of its parts
 * @returns {number}
 */
function measured(expressions, of, measure) {
  const { kind, parts, text, min } = of;
  if (of.nullable) return 0;
  switch (kind) {
    case 'never': return Infinity;
    case 'text': return text.length;
    case 'bytes': return 1;
    case 'cat': return chainLength(of, measure);
    case 'alt': return Math.min(...parts.map(measure));
    case 'repeat': return min * measure(parts[0]);
    case 'ref': return measure(bodyOf(of));
    case 'bare': return bareLength(expressions, of, measure);
    default: return explored(expressions, of);
  }
}

/** A chain may have more parts than a stack has room for. @param {Expression} of @param {Measure} measure */
function chainLength(of, measure) {
  let length = 0;
  let rest = of;
  for (; rest.kind === 'cat' && rest.least === undefined; rest = rest.parts[1]) length += measure(rest.parts[0]);
  return length + measure(rest);
}

/**
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} of
 * @param {Measure} measure
 * @returns {number}
 */
function bareLength(expressions, of, measure) {
  const lengths = classesOf(of).map((byte) => 1 + measure(expressions.after(of, byte)));
  return Math.min(Infinity, ...lengths);
}

/**
 * Follows every byte, so that all that can be reached is measured at once.
 * @param {import('./expressions.js').Expressions} expressions @param {Expression} start @returns {number}
 */
function explored(expressions, start) {
  if (start.least !== undefined) return start.least;
  /** @type {Map<Expression, Expression[]>} */
  const before = new Map([[start, []]]);
  for (const state of before.keys()) {
    if (before.size > MAX_STATES) throw new FormTooCostly('a pattern or a bound has too many states');
    for (const byte of classesOf(state)) {
      const next = expressions.after(state, byte);
      if (next === expressions.never) continue;
      const sources = before.get(next);
      if (sources) sources.push(state);
      else before.set(next, [state]);
    }
  }
  let reached = [...before.keys()].filter((state) => state.nullable);
  for (const state of before.keys()) state.least = state.nullable ? 0 : Infinity;
  for (let length = 1; reached.length; length++) {
    const fresh = new Set(reached.flatMap((state) => before.get(state) ?? []).filter((state) => state.least === Infinity));
    for (const state of fresh) state.least = length;
    reached = [...fresh];
  }
  return start.least ?? Infinity;
}

/** Every ref in it, its bodies included. @param {Expression} root @returns {Expression[]} */
export function refsBelow(root) {
  const seen = new Set([root]);
  const refs = [];
  for (const of of seen) {
    if (of.kind === 'ref') {
      refs.push(of);
      if (refs.length > MAX_REFS) throw new FormTooCostly('it has too many named parts');
      seen.add(bodyOf(of));
    }
    for (const part of of.parts) seen.add(part);
  }
  return refs;
}
