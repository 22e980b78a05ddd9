// Jinja's filters: `value | name(...)`.
import { bind } from './arguments.js';
import { attribute, item, pairs } from './attributes.js';
import { TemplateError } from './errors.js';
import { toJson } from './json.js';
import { binary } from './operators.js';
import { capitalize, replace, splitLines, strip } from './strings.js';
import { test } from './tests.js';
import {
  bounded,
  compare,
  equals,
  isNumber,
  isTrue,
  iterate,
  numberOf,
  PyFloat,
  text,
  typeName,
} from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {(value: Value, given: Record<string, Value>) => Value} Filter */

/** Names of arguments, and what is done. @type {Record<string, [string[], Filter]>} */
const FILTERS = {
  abs: [[], (value) => (numberOf(number(value)) < 0 ? binary('*', value, -1) : value)],
  capitalize: [[], (value) => capitalize(text(value))],
  default: [['default_value', 'boolean'], otherwise],
  dictsort: [['case_sensitive', 'by', 'reverse'], dictSort],
  first: [[], (value) => iterate(value)[0]],
  float: [['default'], toFloat],
  indent: [['width', 'first', 'blank'], indent],
  int: [['default', 'base'], toInt],
  items: [[], (value) => (value === undefined ? [] : pairs(mapping(value)))],
  join: [['d', 'attribute'], join],
  last: [[], (value) => iterate(value).at(-1)],
  length: [[], (value) => (Array.isArray(value) ? value.length : iterate(value).length)],
  list: [[], (value) => [...iterate(value)]],
  lower: [[], (value) => text(value).toLowerCase()],
  max: [[], (value) => extreme(value, 1)],
  min: [[], (value) => extreme(value, -1)],
  replace: [
    ['old', 'new', 'count'],
    (value, { old, new: to, count }) => replace(text(value), text(old), text(to), count ?? -1),
  ],
  reverse: [
    [],
    (value) => (typeof value === 'string' ? [...value].reverse().join('') : [...iterate(value)].reverse()),
  ],
  safe: [[], (value) => text(value)],
  sort: [['reverse', 'case_sensitive', 'attribute'], sort],
  string: [[], (value) => text(value)],
  sum: [['attribute', 'start'], sum],
  title: [[], (value) => text(value).replace(/[^-\s({[<]+/gu, capitalize)],
  tojson: [['ensure_ascii', 'indent', 'separators', 'sort_keys'], toJson],
  trim: [['chars'], (value, { chars }) => strip(text(value), chars)],
  unique: [['case_sensitive', 'attribute'], unique],
  upper: [[], (value) => text(value).toUpperCase()],
};
FILTERS.count = FILTERS.length;
FILTERS.d = FILTERS.default;

/**
 * Those whose arguments name a test or another filter.
 * @type {Record<string, (value: Value, args: Value[], kwargs: Map<string, Value>) => Value>}
 */
const SELECTING = {
  map: mapped,
  select: (value, args) => iterate(value).filter((each) => passes(each, args)),
  reject: (value, args) => iterate(value).filter((each) => !passes(each, args)),
  selectattr: (value, [name, ...args]) => iterate(value).filter((each) => passes(path(each, name), args)),
  rejectattr: (value, [name, ...args]) => iterate(value).filter((each) => !passes(path(each, name), args)),
};

/**
 * @param {string} name
 * @param {Value} value
 * @param {Value[]} args
 * @param {Map<string, Value>} kwargs
 * @returns {Value}
 */
export function filter(name, value, args, kwargs) {
  if (Object.hasOwn(SELECTING, name)) return SELECTING[name](value, args, kwargs);
  if (!Object.hasOwn(FILTERS, name)) throw new TemplateError(`there is no filter named '${name}'`);
  const [names, apply] = FILTERS[name];
  return apply(value, bind(names, args, kwargs));
}

/** @param {Value} value @param {Value[]} args @param {Map<string, Value>} kwargs */
function mapped(value, args, kwargs) {
  if (args.length) return iterate(value).map((each) => filter(String(args[0]), each, args.slice(1), kwargs));
  const { attribute: name, default: missing } = bind(['attribute', 'default'], [], kwargs);
  return iterate(value).map((each) => path(each, name) ?? missing);
}

/** @param {Value} value @param {Value[]} args the test's name and its argument */
function passes(value, args) {
  return args.length ? test(String(args[0]), value, args[1]) : isTrue(value);
}

/** 'a.b.0' of a value. @param {Value} value @param {Value} name */
function path(value, name) {
  if (typeof name === 'number') return item(value, name);
  if (typeof name !== 'string') throw new TemplateError('an attribute has a name');
  return name.split('.').reduce((/** @type {Value} */ each, part) => {
    return /^\d+$/.test(part) ? item(each, Number(part)) : (item(each, part) ?? attribute(each, part));
  }, value);
}

/** @type {Filter} */
function otherwise(value, { default_value: given = '', boolean }) {
  return value === undefined || (isTrue(boolean) && !isTrue(value)) ? given : value;
}

/** @param {Value} value */
function number(value) {
  if (!isNumber(value)) throw new TemplateError(`${typeName(value)} is not a number`);
  return value;
}

/** @param {Value} value @returns {Map<Value, Value>} */
function mapping(value) {
  if (!(value instanceof Map)) throw new TemplateError(`${typeName(value)} has no items`);
  return value;
}

/** @type {Filter} */
function toInt(value, { default: missing = 0, base = 10 }) {
  if (value === undefined) throw new TemplateError('something undefined is no number');
  if (isNumber(value)) return Math.trunc(numberOf(value));
  const plain = strip(text(value)).replace(/(?<=\d)_(?=\d)/g, '');
  if (base === 10 && /^[+-]?\d+$/.test(plain)) return Number(plain);
  if (base === 16 && /^[+-]?(?:0x)?[\da-f]+$/i.test(plain)) return parseInt(plain, 16);
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Math.trunc(Number(plain)) : missing;
}

/** @type {Filter} */
function toFloat(value, { default: missing = new PyFloat(0) }) {
  if (value === undefined) throw new TemplateError('something undefined is no number');
  if (isNumber(value)) return new PyFloat(numberOf(value));
  const plain = strip(text(value));
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? new PyFloat(Number(plain)) : missing;
}

/** @type {Filter} */
function indent(value, { width = 4, first, blank }) {
  const space = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(width, 0), 1000));
  if (typeof value !== 'string') throw new TemplateError('only a text is indented');
  const lines = splitLines(`${value}\n`);
  const [head, ...rest] = lines;
  const all = isTrue(blank)
    ? rest.map((line) => space + line)
    : rest.map((line) => (line ? space + line : line));
  return bounded((isTrue(first) ? space : '') + [head ?? '', ...all].join('\n'));
}

/** @type {Filter} */
function join(value, { d = '', attribute: name }) {
  const items = iterate(value).map((each) =>
    text(name === undefined || name === null ? each : path(each, name)),
  );
  return bounded(items.join(text(d)));
}

/** @param {Value} value as sorting compares it @param {Value} sensitive */
function sortKey(value, sensitive) {
  return typeof value === 'string' && !isTrue(sensitive) ? value.toLowerCase() : value;
}

/** @type {Filter} */
function sort(value, { reverse, case_sensitive: sensitive, attribute: name }) {
  const names =
    typeof name === 'string' ? name.split(',') : name === undefined || name === null ? [null] : [name];
  const keyed = iterate(value).map((each) => ({
    each,
    key: names.map((part) => sortKey(part === null ? each : path(each, part), sensitive)),
  }));
  // Python's reversed sort keeps the order of equals.
  const sign = isTrue(reverse) ? -1 : 1;
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ each }) => each);
}

/** @type {Filter} */
function dictSort(value, { case_sensitive: sensitive, by = 'key', reverse }) {
  if (by !== 'key' && by !== 'value') throw new TemplateError('dictsort is by key or by value');
  const place = by === 'key' ? 0 : 1;
  const sign = isTrue(reverse) ? -1 : 1;
  const key = (/** @type {Value} */ pair) => sortKey(pair[place], sensitive);
  return pairs(mapping(value)).sort((a, b) => sign * compare(key(a), key(b)));
}

/** @type {Filter} */
function sum(value, { attribute: name, start = 0 }) {
  const items = name === undefined ? iterate(value) : iterate(value).map((each) => path(each, name));
  return items.reduce((total, each) => binary('+', total, each), start);
}

/** @type {Filter} */
function unique(value, { case_sensitive: sensitive, attribute: name }) {
  /** @type {Value[]} */
  const seen = [];
  return iterate(value).filter((each) => {
    const key = sortKey(name === undefined || name === null ? each : path(each, name), sensitive);
    if (seen.some((known) => equals(known, key))) return false;
    seen.push(key);
    return true;
  });
}

/** @param {Value} value @param {number} sign */
function extreme(value, sign) {
  const items = iterate(value);
  return items.reduce(
    (best, each) => (sign * compare(sortKey(each, false), sortKey(best, false)) > 0 ? each : best),
    items[0],
  );
}
