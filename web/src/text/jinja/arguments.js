// Binding of positional and keyword arguments, as Python's calls do it.
import { TemplateError } from './errors.js';

/** @typedef {import('./values.js').Value} Value */

/**
 * @param {string[]} names in order
 * @param {Value[]} args
 * @param {Map<string, Value>} kwargs
 * @returns {Record<string, Value>} what was not given is undefined
 */
export function bind(names, args, kwargs) {
  if (args.length > names.length) throw new TemplateError(`more than ${names.length} arguments`);
  /** @type {Record<string, Value>} */
  const bound = Object.create(null);
  args.forEach((value, index) => {
    bound[names[index]] = value;
  });
  for (const [name, value] of kwargs) {
    if (!names.includes(name) || name in bound) throw new TemplateError(`an unexpected argument '${name}'`);
    bound[name] = value;
  }
  return bound;
}
