// Methods of Python's str that templates call.
import { bind } from './arguments.js';
import { TemplateError } from './errors.js';
import { bounded, iterate, Tuple } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {(self: string, args: Value[], kwargs: Map<string, Value>) => Value} Method */

// str.isspace, which has the separators of ASCII too.
const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const LEADING = new RegExp(`^[${SPACE}]+`, 'u');
const WORDS = new RegExp(`[^${SPACE}]+`, 'gu');
const SPACES = new RegExp(`^[${SPACE}]+$`, 'u');
const LINES = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/gu;

/** @param {string} value @param {Value} [chars] */
export function stripStart(value, chars) {
  if (chars === undefined || chars === null) return value.replace(LEADING, '');
  const set = new Set(chars);
  const all = [...value];
  const kept = all.findIndex((character) => !set.has(character));
  return kept < 0 ? '' : all.slice(kept).join('');
}

/** @param {string} value @param {Value} [chars] */
export function stripEnd(value, chars) {
  const set = chars === undefined || chars === null ? null : new Set(chars);
  const all = [...value];
  let end = all.length;
  while (end > 0 && (set ? set.has(all[end - 1]) : SPACES.test(all[end - 1]))) end -= 1;
  return all.slice(0, end).join('');
}

/** @param {string} value @param {Value} [chars] */
export function strip(value, chars) {
  return stripEnd(stripStart(value, chars), chars);
}

/** @param {string} value @param {boolean} [keepEnds] */
export function splitLines(value, keepEnds = false) {
  const lines = [];
  let start = 0;
  for (const match of value.matchAll(LINES)) {
    const end = match.index + match[0].length;
    lines.push(value.slice(start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < value.length) lines.push(value.slice(start));
  return lines;
}

/** @param {string} value */
export function capitalize(value) {
  const [first = '', ...rest] = value;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

/** @param {string} value @param {string} from @param {string} to @param {number} count below 0: all */
export function replace(value, from, to, count) {
  if (typeof from !== 'string' || typeof to !== 'string') throw new TemplateError('replace takes texts');
  if (count < 0)
    return bounded(
      from === '' ? [...value].reduce((all, each) => all + each + to, to) : value.replaceAll(from, () => to),
    );
  const parts = from === '' ? ['', ...value, ''] : value.split(from);
  const head = parts.slice(0, count + 1).join(to);
  const tail = parts.slice(count + 1);
  return bounded(tail.length ? head + from + tail.join(from) : head);
}

/** @param {string} value @param {Value} separator @param {number} most below 0: all */
function split(value, separator, most) {
  if (separator === undefined || separator === null) return splitWords(value, most);
  if (typeof separator !== 'string' || separator === '') throw new TemplateError('an empty separator');
  const parts = value.split(separator);
  return most < 0 || parts.length <= most + 1
    ? parts
    : [...parts.slice(0, most), parts.slice(most).join(separator)];
}

/** @param {string} value @param {number} most */
function splitWords(value, most) {
  const parts = [];
  for (const match of value.matchAll(WORDS)) {
    if (most >= 0 && parts.length >= most) return [...parts, stripEnd(value.slice(match.index))];
    parts.push(match[0]);
  }
  return parts;
}

/** @param {string} value @param {Value} separator @param {number} most */
function splitRight(value, separator, most) {
  if (typeof separator !== 'string') {
    if (most >= 0) throw new TemplateError('rsplit without a separator is not supported');
    return splitWords(value, -1);
  }
  const parts = split(value, separator, -1);
  const joined = parts.length - most;
  return most < 0 || joined <= 1 ? parts : [parts.slice(0, joined).join(separator), ...parts.slice(joined)];
}

/** @param {Value} affixes @param {(affix: string) => boolean} matches */
function anyAffix(affixes, matches) {
  const list = affixes instanceof Tuple ? [...affixes] : [affixes];
  if (!list.every((affix) => typeof affix === 'string')) throw new TemplateError('an affix is a text');
  return list.some(matches);
}

/** The place by code points. @param {string} value @param {number} unit */
function place(value, unit) {
  return unit < 0 ? -1 : [...value.slice(0, unit)].length;
}

/** @param {string} self @param {string} separator */
function partition(self, separator) {
  if (typeof separator !== 'string' || !separator) throw new TemplateError('an empty separator');
  const at = self.indexOf(separator);
  const cut = at < 0 ? [self, '', ''] : [self.slice(0, at), separator, self.slice(at + separator.length)];
  return Tuple.from(cut);
}

/** @param {string} self @param {string} part */
function count(self, part) {
  return part === '' ? [...self].length + 1 : self.split(part).length - 1;
}

/**
 * Those that take nothing or arguments by position.
 * @type {Record<string, (self: string, ...args: Value[]) => Value>}
 */
const PLAIN = {
  strip,
  lstrip: stripStart,
  rstrip: stripEnd,
  upper: (self) => self.toUpperCase(),
  lower: (self) => self.toLowerCase(),
  capitalize,
  title: (self) => self.replace(/\p{L}+/gu, capitalize),
  startswith: (self, affixes) => anyAffix(affixes, (affix) => self.startsWith(affix)),
  endswith: (self, affixes) => anyAffix(affixes, (affix) => self.endsWith(affix)),
  removeprefix: (self, affix) => (self.startsWith(affix) ? self.slice(affix.length) : self),
  removesuffix: (self, affix) => (affix && self.endsWith(affix) ? self.slice(0, -affix.length) : self),
  find: (self, part) => place(self, self.indexOf(part)),
  rfind: (self, part) => place(self, self.lastIndexOf(part)),
  count,
  partition: (self, separator) => partition(self, separator),
  isdigit: (self) => /^\p{Nd}+$/u.test(self),
  isalpha: (self) => /^\p{L}+$/u.test(self),
  isalnum: (self) => /^[\p{L}\p{N}]+$/u.test(self),
  isspace: (self) => SPACES.test(self),
  isupper: (self) => self !== self.toLowerCase() && self === self.toUpperCase(),
  islower: (self) => self !== self.toUpperCase() && self === self.toLowerCase(),
};

/** @type {Record<string, Method>} */
const BOUND = {
  split(self, args, kwargs) {
    const { sep, maxsplit } = bind(['sep', 'maxsplit'], args, kwargs);
    return split(self, sep, maxsplit ?? -1);
  },
  rsplit(self, args, kwargs) {
    const { sep, maxsplit } = bind(['sep', 'maxsplit'], args, kwargs);
    return splitRight(self, sep, maxsplit ?? -1);
  },
  splitlines(self, args, kwargs) {
    return splitLines(self, Boolean(bind(['keepends'], args, kwargs).keepends));
  },
  replace(self, args, kwargs) {
    const { old, new: to, count: most } = bind(['old', 'new', 'count'], args, kwargs);
    return replace(self, old, to, most ?? -1);
  },
  join(self, args) {
    const items = iterate(args[0]);
    if (!items.every((item) => typeof item === 'string')) throw new TemplateError('join takes texts');
    return bounded(items.join(self));
  },
};

/** @param {string} self @param {string} name @returns {import('./values.js').Callable | undefined} */
export function stringMethod(self, name) {
  if (Object.hasOwn(BOUND, name)) return (args, kwargs) => BOUND[name](self, args, kwargs);
  if (!Object.hasOwn(PLAIN, name)) return undefined;
  return (args, kwargs) => {
    if (kwargs.size) throw new TemplateError(`${name} takes no arguments by name`);
    return PLAIN[name](self, ...args);
  };
}
