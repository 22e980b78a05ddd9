// A checked JSON schema as a language of compact texts: properties in the order of the schema, one space behind
// every comma and colon, names written without needless escapes.
import { FormTooCostly, SchemaInvalid } from '../errors.js';
import { bytesOfText } from '../language/characters.js';
import { bodyOf } from '../language/expressions.js';
import { Numbers } from '../language/numbers.js';
import { shortest } from '../language/shortest.js';
import { oneOfTexts } from '../language/texts.js';
import { arrayOf } from './arrays.js';
import { resolved, TYPES } from './document.js';
import { areDisjoint } from './disjoint.js';
import { isSchemaObject, KEYWORDS } from './keywords.js';
import { merged } from './merging.js';
import { numberOf } from './number_values.js';
import { objectOf } from './objects.js';
import { Strings } from './strings.js';
import { written } from './written.js';

/** @typedef {import('./keywords.js').Schema} Schema */
/** @typedef {import('../language/expressions.js').Expression} Expression */

// Of schemas that hold at once, one within another, and of their branches multiplied.
const MAX_NESTED = 200;
const MAX_BRANCHES = 200;

export class Compiler {
  /** @param {import('../language/expressions.js').Expressions} expressions @param {Schema} root */
  constructor(expressions, root) {
    this.expressions = expressions;
    this.root = root;
    this.strings = new Strings(expressions);
    this.numbers = new Numbers(expressions);
    this._nested = 0;
  }

  /** The texts of a schema. @param {unknown} schema @param {string} path @returns {Expression} throws SchemaInvalid */
  value(schema, path) {
    if (schema === false) return this.expressions.never;
    if (!isSchemaObject(schema)) return this.anything();
    const options = optionsOf(schema);
    if (typeof schema.$ref === 'string' && isAlone(schema, '$ref')) return this._named(schema.$ref);
    if (options) {
      if (schema.oneOf) this._requireDisjoint(schema.oneOf, path);
      return this.expressions.alt(options.map((part) => this.value(part, path)));
    }
    if (!schema.$ref && !schema.allOf) return this._anyOf(schema, path);
    // It may come back within itself.
    return this.expressions.ref(`all of ${JSON.stringify(schema)}`, false, () => this._anyOf(schema, path));
  }

  /** @param {Schema} schema @param {string} path @returns {Expression} */
  _anyOf(schema, path) {
    return this.expressions.alt(this._branches(schema, path).map((branch) => this._plain(branch, path)));
  }

  /** Any JSON value. */
  anything() {
    return this.expressions.ref('any', false, () => this._plain({}, '#'));
  }

  /** @param {string} pointer */
  _named(pointer) {
    return this.expressions.ref(`at ${pointer}`, false, () => this.value(resolved(this.root, pointer), pointer));
  }

  /**
   * The schema as several without $ref, allOf, anyOf and oneOf, one of which holds.
   * @param {unknown} schema @param {string} path @returns {Schema[]}
   */
  _branches(schema, path) {
    if (schema === false) return [];
    if (!isSchemaObject(schema)) return [{}];
    if (++this._nested > MAX_NESTED) throw new FormTooCostly('schemas that hold at once contain each other');
    const { $ref, allOf = [], anyOf, oneOf, ...base } = schema;
    const target = $ref === undefined ? [] : [resolved(this.root, $ref)];
    let branches = [base];
    for (const part of [...target, ...allOf]) branches = combined(branches, this._branches(part, path), path);
    for (const options of [anyOf, oneOf]) {
      if (options) branches = combined(branches, options.flatMap((/** @type {Schema} */ part) => this._branches(part, path)), path);
    }
    if (oneOf) this._requireDisjoint(oneOf, path);
    this._nested -= 1;
    return branches;
  }

  /** @param {unknown[]} options @param {string} path */
  _requireDisjoint(options, path) {
    const branches = options.map((option) => this._branches(option, path));
    for (const [at, some] of branches.entries()) {
      for (const others of branches.slice(at + 1)) {
        const apart = some.every((one) => others.every((other) => areDisjoint(one, other)));
        if (!apart) throw new SchemaInvalid('oneOf of schemas that one text may meet together cannot be enforced; use anyOf', path);
      }
    }
  }

  /** @param {Schema} schema without branches @param {string} path @returns {Expression} */
  _plain(schema, path) {
    const { enum: values, const: only, ...rest } = schema;
    if (Object.hasOwn(schema, 'const')) return this._literals([only], values ? { ...rest, enum: values } : rest, path);
    if (values) return this._literals(values, rest, path);
    return this.expressions.alt(typesIn(rest).map((type) => this._ofType(type, rest, path)));
  }

  /**
   * Values that are given, as far as the rest of the schema holds for them.
   * @param {unknown[]} values @param {Schema} rest @param {string} path
   */
  _literals(values, rest, path) {
    if (values.some(isRounded)) throw new SchemaInvalid('a whole number beyond 2^53 cannot be enforced as a value', path);
    const limited = Object.keys(rest).some((name) => KEYWORDS.enforced.includes(name));
    const allowed = limited ? this._plain(rest, path) : null;
    const texts = values.map((value) => bytesOfText(written(value)));
    return oneOfTexts(this.expressions, texts.filter((text) => !allowed || this._has(allowed, text)));
  }

  /** Whether it has no text at all, of what has no names. @param {Expression} of */
  hasNone(of) {
    return shortest(this.expressions, of) === Infinity;
  }

  /** @param {Expression} of @param {string} text bytes */
  _has(of, text) {
    for (let at = 0; at < text.length; at++) of = this.expressions.after(of, text.charCodeAt(at));
    return of.kind === 'ref' ? bodyOf(of).nullable : of.nullable;
  }

  /** @param {string} type @param {Schema} schema @param {string} path @returns {Expression} */
  _ofType(type, schema, path) {
    switch (type) {
      case 'null': return this.expressions.text('null');
      case 'boolean': return this.expressions.alt([this.expressions.text('true'), this.expressions.text('false')]);
      case 'string': return this.strings.value(schema, path);
      case 'array': return arrayOf(this, schema, path);
      case 'object': return objectOf(this, schema, path);
      default: return numberOf(this, schema, type === 'integer');
    }
  }
}

/** @param {unknown} value */
function isRounded(value) {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Whether no other keyword limits a text. @param {Schema} schema @param {string} keyword */
function isAlone(schema, keyword) {
  return Object.keys(schema).every((name) => name === keyword || !KEYWORDS.enforced.includes(name));
}

/**
 * Schemas of which one holds, where nothing else does: they keep their names.
 * @param {Schema} schema
 * @returns {unknown[] | null}
 */
function optionsOf(schema) {
  if (schema.anyOf && isAlone(schema, 'anyOf')) return schema.anyOf;
  if (schema.oneOf && isAlone(schema, 'oneOf')) return schema.oneOf;
  return schema.allOf?.length === 1 && isAlone(schema, 'allOf') ? schema.allOf : null;
}

/** @param {Schema} schema @returns {string[]} */
function typesIn(schema) {
  const types = Object.hasOwn(schema, 'type') ? [schema.type].flat() : TYPES;
  return types.includes('number') ? types.filter((/** @type {string} */ type) => type !== 'integer') : types;
}

/** Each of some with each of others. @param {Schema[]} some @param {Schema[]} others @param {string} path */
function combined(some, others, path) {
  if (some.length * others.length > MAX_BRANCHES) throw new FormTooCostly('too many branches that hold at once');
  return some.flatMap((one) => others.map((other) => merged(one, other, path)));
}
