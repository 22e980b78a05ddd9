// Objects of a schema: named properties in its order, then others.
import { FormTooCostly, SchemaInvalid } from '../errors.js';
import { bytesOfText } from '../language/characters.js';
import { KEY, ITEM } from './written.js';

/** @typedef {import('../language/expressions.js').Expression} Expression */
/** @typedef {import('./keywords.js').Schema} Schema */
/** @typedef {import('./compiler.js').Compiler} Compiler */

const MAX_PLACES = 200_000;
const MAX_OPTIONAL = 1000;

/** @param {Compiler} compiler @param {Schema} schema @param {string} path @returns {Expression} */
export function objectOf(compiler, schema, path) {
  const { expressions: x } = compiler;
  const { minProperties = 0, maxProperties = Infinity } = schema;
  const named = namedPairs(compiler, schema, path);
  const other = otherPair(compiler, schema, path);
  requireCountable(schema, other !== x.never, path);
  if (named.filter(({ required }) => !required).length > MAX_OPTIONAL) {
    throw new FormTooCostly(`more than ${MAX_OPTIONAL} properties that may be left out`);
  }
  const bounded = minProperties > 0 || maxProperties < Infinity;
  // How many pairs stand before a place; where nothing counts them, only whether some do.
  const most = bounded ? named.length : Math.min(1, named.length);
  if (named.length * most > MAX_PLACES) throw new FormTooCostly('too many properties to count');
  let rows = Array.from({ length: most + 1 }, (_, count) =>
    others(x, other, count, Math.max(0, minProperties - count), maxProperties - (bounded ? count : 0)));
  for (const { pair, required } of [...named].reverse()) {
    rows = rows.map((without, count) => {
      const begins = count ? x.text(ITEM) : x.empty;
      const some = count < maxProperties ? x.cat(begins, pair, rows[Math.min(most, count + 1)]) : x.never;
      return required ? some : x.alt([some, without]);
    });
  }
  return x.cat(x.text('{'), rows[0], x.text('}'));
}

/** @param {Compiler} compiler @param {Schema} schema @param {string} path */
function namedPairs(compiler, schema, path) {
  const { properties = {}, required = [], additionalProperties = true, patternProperties = {} } = schema;
  const { expressions: x, strings } = compiler;
  const names = [...new Set([...Object.keys(properties), ...required])];
  const patterns = Object.entries(patternProperties);
  return names.map((name) => {
    const like = patterns.filter(([pattern]) => matches(compiler, pattern, name, path)).map(([, part]) => part);
    const own = Object.hasOwn(properties, name) ? [properties[name]] : [];
    const all = own.length + like.length ? [...own, ...like] : [additionalProperties];
    const value = compiler.value(all.length > 1 ? { allOf: all } : all[0], `${path}/properties/${name}`);
    return { pair: x.cat(strings.name(name), x.text(KEY), value), required: required.includes(name) };
  });
}

/** One more property, of any other name. @param {Compiler} compiler @param {Schema} schema @param {string} path */
function otherPair(compiler, schema, path) {
  const { properties = {}, required = [], additionalProperties = true, patternProperties = {} } = schema;
  const { expressions: x, strings } = compiler;
  const names = [...new Set([...Object.keys(properties), ...required])];
  const patterns = Object.keys(patternProperties);
  if (patterns.length > 1 && !areApart(compiler, patterns, path)) {
    throw new SchemaInvalid('patternProperties of which several may match one name cannot be enforced', path);
  }
  const named = strings.otherNames(names, [], path);
  const like = patterns.map((pattern) => x.cat(
    patterns.length ? x.both(named, strings.namesLike(pattern, path)) : named, x.text(KEY),
    compiler.value(patternProperties[pattern], `${path}/patternProperties`),
  ));
  const value = compiler.value(additionalProperties, `${path}/additionalProperties`);
  if (value === x.never) return x.alt(like);
  return x.alt([...like, x.cat(strings.otherNames(names, patterns, path), x.text(KEY), value)]);
}

/**
 * @param {import('../language/expressions.js').Expressions} x @param {Expression} pair
 * @param {number} before pairs @param {number} least @param {number} most
 */
function others(x, pair, before, least, most) {
  if (pair === x.never || most <= 0) return least > 0 ? x.never : x.empty;
  const next = x.cat(x.text(ITEM), pair);
  if (before > 0) return x.repeat(next, least, most);
  const some = x.cat(pair, x.repeat(next, Math.max(0, least - 1), most - 1));
  return least > 0 ? some : x.optional(some);
}

/** A name that is written twice counts once. @param {Schema} schema @param {boolean} open @param {string} path */
function requireCountable({ minProperties = 0, required = [] }, open, path) {
  if (open && minProperties > Math.max(1, required.length)) {
    throw new SchemaInvalid('minProperties above 1 needs as many required properties', path);
  }
}

/** @param {Compiler} compiler @param {string} pattern @param {string} name @param {string} path */
function matches({ expressions: x, strings }, pattern, name, path) {
  let of = strings.namesLike(pattern, path);
  const text = bytesOfText(JSON.stringify(name));
  for (let at = 0; at < text.length; at++) of = x.after(of, text.charCodeAt(at));
  return of.nullable;
}

/** @param {Compiler} compiler @param {string[]} patterns @param {string} path */
function areApart(compiler, patterns, path) {
  const { expressions: x, strings } = compiler;
  return patterns.every((one, at) => patterns.slice(at + 1).every((other) =>
    compiler.hasNone(x.both(strings.namesLike(one, path), strings.namesLike(other, path)))));
}
