// Values of a template's expressions.
import { attribute, item, slice } from './attributes.js';
import { TemplateError } from './errors.js';
import { filter } from './filters.js';
import { binary, unary } from './operators.js';
import { test } from './tests.js';
import { isTrue, iterate, PyFloat, Tuple } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {import('./scope.js').Scope} Scope */
/** @typedef {any} Node of @huggingface/jinja's parser, told apart by `type` */

/** @param {Node} node @param {Scope} scope @returns {Value} */
export function evaluate(node, scope) {
  if (node === undefined || node === null) return undefined;
  const rule = Object.hasOwn(RULES, node.type) ? RULES[node.type] : null;
  if (!rule) throw new TemplateError(`a ${node.type} is not supported`);
  return rule(node, scope);
}

/** @type {Record<string, (node: Node, scope: Scope) => Value>} */
const RULES = {
  IntegerLiteral: (node) => node.value,
  FloatLiteral: (node) => new PyFloat(node.value),
  StringLiteral: (node) => node.value,
  ArrayLiteral: (node, scope) => node.value.map((/** @type {Node} */ each) => evaluate(each, scope)),
  TupleLiteral: (node, scope) => Tuple.from(node.value, (each) => evaluate(each, scope)),
  ObjectLiteral: dictionary,
  Identifier: (node, scope) => scope.get(node.value),
  MemberExpression: member,
  CallExpression: call,
  BinaryExpression: operation,
  UnaryExpression: (node, scope) => unary(node.operator.value, evaluate(node.argument, scope)),
  FilterExpression: (node, scope) => filtered(node.filter, evaluate(node.operand, scope), scope),
  TestExpression: (node, scope) => test(node.test.value, evaluate(node.operand, scope)) !== node.negate,
  SelectExpression: (node, scope) =>
    isTrue(evaluate(node.test, scope)) ? evaluate(node.lhs, scope) : undefined,
  Ternary: (node, scope) =>
    evaluate(isTrue(evaluate(node.condition, scope)) ? node.trueExpr : node.falseExpr, scope),
};

/** @param {Node} node @param {Scope} scope */
function dictionary(node, scope) {
  const entries = [...node.value].map(([key, value]) => [evaluate(key, scope), evaluate(value, scope)]);
  return new Map(/** @type {[Value, Value][]} */ (entries));
}

/** @param {Node} node @param {Scope} scope */
function member(node, scope) {
  const object = evaluate(node.object, scope);
  if (!node.computed) {
    const { type, value } = node.property;
    return type === 'Identifier' ? attribute(object, value) : item(object, value);
  }
  if (node.property.type !== 'SliceExpression') return item(object, evaluate(node.property, scope));
  const { start, stop, step } = node.property;
  return slice(object, evaluate(start, scope), evaluate(stop, scope), evaluate(step, scope));
}

/** @param {Node} node @param {Scope} scope */
function operation(node, scope) {
  const left = evaluate(node.left, scope);
  const operator = node.operator.value;
  if (operator === 'and') return isTrue(left) ? evaluate(node.right, scope) : left;
  if (operator === 'or') return isTrue(left) ? left : evaluate(node.right, scope);
  return binary(operator, left, evaluate(node.right, scope));
}

/** @param {Node} node @param {Scope} scope @returns {Value} */
export function call(node, scope) {
  const called = evaluate(node.callee, scope);
  if (typeof called !== 'function') throw new TemplateError('something is called that is not a function');
  const { args, kwargs } = givenArguments(node.args, scope);
  return called(args, kwargs);
}

/**
 * @param {Node} node the filter's name or its call
 * @param {Value} value
 * @param {Scope} scope
 * @returns {Value}
 */
export function filtered(node, value, scope) {
  if (node.type === 'Identifier') return filter(node.value, value, [], new Map());
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier')
    throw new TemplateError('a filter has a name');
  const { args, kwargs } = givenArguments(node.args, scope);
  return filter(node.callee.value, value, args, kwargs);
}

/** @param {Node[]} nodes @param {Scope} scope */
export function givenArguments(nodes, scope) {
  /** @type {Value[]} */
  const args = [];
  /** @type {Map<string, Value>} */
  const kwargs = new Map();
  for (const node of nodes) {
    if (node.type === 'SpreadExpression') args.push(...iterate(evaluate(node.argument, scope)));
    else if (node.type === 'KeywordArgumentExpression')
      kwargs.set(node.key.value, evaluate(node.value, scope));
    else if (node.type === 'KeywordSpreadExpression') spread(evaluate(node.argument, scope), kwargs);
    else args.push(evaluate(node, scope));
  }
  return { args, kwargs };
}

/** @param {Value} value @param {Map<string, Value>} into */
function spread(value, into) {
  if (!(value instanceof Map)) throw new TemplateError('only a mapping gives arguments by name');
  for (const [key, each] of value) into.set(key, each);
}
