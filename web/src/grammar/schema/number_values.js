// Numbers of a schema.

/**
 * @param {import('./compiler.js').Compiler} compiler @param {import('./keywords.js').Schema} schema
 * @param {boolean} whole
 * @returns {import('../language/expressions.js').Expression}
 */
export function numberOf({ expressions: x, numbers }, schema, whole) {
  const limits = [];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = [] } = schema;
  if (minimum !== undefined) limits.push(numbers.above(minimum, false));
  if (exclusiveMinimum !== undefined) limits.push(numbers.above(exclusiveMinimum, true));
  if (maximum !== undefined) limits.push(numbers.below(maximum, false));
  if (exclusiveMaximum !== undefined) limits.push(numbers.below(exclusiveMaximum, true));
  for (const factor of [multipleOf].flat()) limits.push(numbers.multiple(factor));
  const free = limits.length ? numbers.decimal : numbers.any;
  return limits.reduce((all, limit) => x.both(all, limit), whole ? numbers.integer : free);
}
