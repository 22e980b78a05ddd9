// Names that every template can use.
import { bind } from './arguments.js';
import { Attributes } from './attributes.js';
import { TemplateError, TooCostly } from './errors.js';
import { strftime } from './strftime.js';
import { iterate, Namespace, numberOf, text } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {import('./values.js').Callable} Callable */

// As in Jinja's sandbox.
const MAX_RANGE = 100_000;

/** @param {() => Date} now @returns {Map<string, Value>} */
export function globals(now) {
  /** @type {Record<string, Value>} */
  const names = {
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range,
    dict: /** @type {Callable} */ ((args, kwargs) => dict(args, kwargs)),
    namespace,
    cycler: /** @type {Callable} */ ((args) => cycler(args)),
    joiner: /** @type {Callable} */ ((args) => joiner(args[0] ?? ', ')),
    raise_exception: /** @type {Callable} */ (
      (args) => {
        throw new TemplateError(text(args[0]));
      }
    ),
    strftime_now: /** @type {Callable} */ ((args) => strftime(now(), text(args[0]))),
  };
  return new Map(Object.entries(names));
}

/** @type {Callable} */
function range(args) {
  const numbers = args.map(numberOf);
  const [start, stop, step] =
    numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1];
  if (!step || ![start, stop, step].every(Number.isSafeInteger))
    throw new TemplateError('a range of no numbers');
  const length = Math.max(Math.ceil((stop - start) / step), 0);
  if (length > MAX_RANGE) throw new TooCostly(`a range is longer than ${MAX_RANGE}`);
  return Array.from({ length }, (_, index) => start + index * step);
}

/** @param {Value[]} args @param {Map<string, Value>} kwargs @returns {Map<Value, Value>} */
function dict(args, kwargs) {
  const given = args[0] instanceof Map ? [...args[0]] : iterate(args[0]).map((pair) => iterate(pair));
  return new Map([.../** @type {[Value, Value][]} */ (given), ...kwargs]);
}

/** @type {Callable} */
function namespace(args, kwargs) {
  const values = dict(args, kwargs);
  for (const name of values.keys()) refusePrivate(name);
  return new Namespace(values);
}

/** @param {Value} name @throws {TemplateError} */
export function refusePrivate(name) {
  if (typeof name === 'string' && name.startsWith('_')) {
    throw new TemplateError('a namespace has no names that begin with an underscore');
  }
}

/** @param {Value[]} items */
function cycler(items) {
  if (items.length === 0) throw new TemplateError('a cycler has items');
  let at = 0;
  const shown = new Attributes({
    next: () => {
      const current = items[at];
      at = (at + 1) % items.length;
      shown.values.current = items[at];
      return current;
    },
    reset: () => {
      at = 0;
      shown.values.current = items[0];
      return null;
    },
    current: items[0],
  });
  return shown;
}

/** @param {Value} separator @returns {Callable} */
function joiner(separator) {
  let used = false;
  return (args, kwargs) => {
    bind([], args, kwargs);
    const shown = used ? separator : '';
    used = true;
    return shown;
  };
}
