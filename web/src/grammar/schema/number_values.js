// Numbers of a schema.

/**
 * @param {import('./compiler.js').Compiler} compiler @param {import('./keywords.js').Schema} schema
 * @param {boolean} whole
 * @returns {import('../language/expressions.js').Expression}
 */
export function numberOf({ expressions: x, numbers }, schema, whole) {
  const limits = [];
  const { multipleOf = [] } = schema;
  const [minimum, exclusiveMinimum] = [inward(schema.minimum, 1), inward(schema.exclusiveMinimum, 1)];
  const [maximum, exclusiveMaximum] = [inward(schema.maximum, -1), inward(schema.exclusiveMaximum, -1)];
  if (minimum !== undefined) limits.push(numbers.above(minimum, false));
  if (exclusiveMinimum !== undefined) limits.push(numbers.above(exclusiveMinimum, true));
  if (maximum !== undefined) limits.push(numbers.below(maximum, false));
  if (exclusiveMaximum !== undefined) limits.push(numbers.below(exclusiveMaximum, true));
  for (const factor of [multipleOf].flat()) limits.push(numbers.multiple(factor));
  const free = limits.length ? numbers.decimal : numbers.any;
  return limits.reduce((all, limit) => x.both(all, limit), whole ? numbers.integer : free);
}

/**
 * A whole number that is too long for a double was rounded when it was read: to the next one on the safe side.
 * @param {number | undefined} bound @param {1 | -1} side
 */
function inward(bound, side) {
  if (bound === undefined || !Number.isInteger(bound) || Number.isSafeInteger(bound)) return bound;
  return bound + side * Math.abs(bound) * 2 * Number.EPSILON;
}
