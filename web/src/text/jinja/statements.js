// The text that a template's statements give.
import { TemplateError, TooCostly } from './errors.js';
import { call, evaluate, filtered, givenArguments } from './expressions.js';
import { refusePrivate } from './globals.js';
import { loopOver } from './loop.js';
import { Scope } from './scope.js';
import { isTrue, iterate, Namespace, text, Tuple } from './values.js';

/** @typedef {import('./values.js').Value} Value */
/** @typedef {import('./expressions.js').Node} Node */

/** What `break` and `continue` throw. */
class LeaveTurn extends Error {
  /** @param {boolean} ends the loop too @param {string} shown the turn's text so far */
  constructor(ends, shown) {
    super('break or continue outside a loop');
    this.ends = ends;
    this.shown = shown;
  }
}

/** @type {Record<string, (node: Node, scope: Scope, longest: number) => string>} */
const RULES = {
  Set: assignment,
  If: (node, scope, longest) =>
    render(isTrue(evaluate(node.test, scope)) ? node.body : node.alternate, scope, longest),
  For: loop,
  Macro: macro,
  CallStatement: callBlock,
  FilterStatement: (node, scope, longest) =>
    text(filtered(node.filter, render(node.body, new Scope(scope), longest), scope)),
  Comment: () => '',
};

/**
 * @param {Node[]} statements
 * @param {Scope} scope
 * @param {number} longest UTF-16 units
 * @returns {string}
 */
export function render(statements, scope, longest) {
  let shown = '';
  for (const node of statements) {
    if (node.type === 'Break' || node.type === 'Continue') throw new LeaveTurn(node.type === 'Break', shown);
    try {
      shown += Object.hasOwn(RULES, node.type)
        ? RULES[node.type](node, scope, longest)
        : text(evaluate(node, scope));
    } catch (error) {
      // What was shown before a `break` within an `if` stays.
      if (error instanceof LeaveTurn) error.shown = shown + error.shown;
      throw error;
    }
    if (shown.length > longest) throw new TooCostly(`its text is longer than ${longest} characters`);
  }
  return shown;
}

/** @param {Node} node @param {Scope} scope @param {number} longest */
function assignment(node, scope, longest) {
  const value = node.value ? evaluate(node.value, scope) : render(node.body, new Scope(scope), longest);
  assign(node.assignee, value, scope);
  return '';
}

/** @param {Node} target @param {Value} value @param {Scope} scope */
function assign(target, value, scope) {
  if (target.type === 'Identifier') scope.set(target.value, value);
  else if (target.type === 'TupleLiteral') unpack(target.value, value, scope);
  else if (target.type === 'MemberExpression') change(target, value, scope);
  else throw new TemplateError('only names are set');
}

/** @param {Node[]} targets @param {Value} value @param {Scope} scope */
function unpack(targets, value, scope) {
  const items = iterate(value);
  if (items.length !== targets.length)
    throw new TemplateError(`${targets.length} names for ${items.length} values`);
  targets.forEach((target, index) => assign(target, items[index], scope));
}

/** @param {Node} target @param {Value} value @param {Scope} scope */
function change(target, value, scope) {
  const object = evaluate(target.object, scope);
  if (!(object instanceof Namespace) || target.computed)
    throw new TemplateError('only a namespace can be changed');
  refusePrivate(target.property.value);
  object.values.set(target.property.value, value);
}

/** Each turn has names of its own. @param {Node} node @param {Scope} scope @param {number} longest */
function loop(node, scope, longest) {
  const items = loopItems(node, scope);
  const depth = Number(scope.get(' depth') ?? 0) + 1;
  const turn = loopOver(items, depth);
  let shown = '';
  for (let index = 0; index < items.length; index += 1) {
    const names = new Scope(scope, new Map([[' depth', depth]]));
    names.set('loop', turn(index));
    assign(node.loopvar, items[index], names);
    const { part, ends } = oneTurn(node.body, names, longest - shown.length);
    shown += part;
    if (ends) break;
  }
  return items.length ? shown : render(node.defaultBlock, scope, longest);
}

/** @param {Node[]} body @param {Scope} scope @param {number} longest */
function oneTurn(body, scope, longest) {
  try {
    return { part: render(body, scope, longest), ends: false };
  } catch (error) {
    if (!(error instanceof LeaveTurn)) throw error;
    return { part: error.shown, ends: error.ends };
  }
}

/** Without those that `for ... if` leaves out. @param {Node} node @param {Scope} scope @returns {Value[]} */
function loopItems(node, scope) {
  if (node.iterable.type !== 'SelectExpression') return iterate(evaluate(node.iterable, scope));
  return iterate(evaluate(node.iterable.lhs, scope)).filter((each) => {
    const names = new Scope(scope);
    assign(node.loopvar, each, names);
    return isTrue(evaluate(node.iterable.test, names));
  });
}

/** @param {Node} node @param {Scope} scope @param {number} longest */
function macro(node, scope, longest) {
  scope.set(node.name.value, procedure(node.args, node.body, scope, longest));
  return '';
}

/** @param {Node} node @param {Scope} scope @param {number} longest */
function callBlock(node, scope, longest) {
  const caller = procedure(node.callerArgs ?? [], node.body, scope, longest);
  const called = evaluate(node.call.callee, scope);
  if (typeof called !== 'function') return text(call(node.call, scope));
  const { args, kwargs } = givenArguments(node.call.args, scope);
  return text(called(args, new Map([...kwargs, ['caller', caller]])));
}

/**
 * @param {Node[]} parameters
 * @param {Node[]} body
 * @param {Scope} scope
 * @param {number} longest
 * @returns {import('./values.js').Callable}
 */
function procedure(parameters, body, scope, longest) {
  const names = parameters.map((each) => (each.type === 'Identifier' ? each.value : each.key.value));
  return (args, kwargs) => {
    const inner = new Scope(scope);
    const rest = new Map(kwargs);
    if (rest.has('caller')) inner.set('caller', rest.get('caller'));
    rest.delete('caller');
    names.forEach((name, index) => {
      const given = index < args.length ? args[index] : rest.get(name);
      rest.delete(name);
      inner.set(name, given === undefined ? missing(parameters[index], inner) : given);
    });
    inner.set('varargs', Tuple.from(args.slice(names.length)));
    inner.set('kwargs', rest);
    return render(body, inner, longest);
  };
}

/** A parameter's default. @param {Node} parameter @param {Scope} scope @returns {Value} */
function missing(parameter, scope) {
  return parameter.type === 'Identifier' ? undefined : evaluate(parameter.value, scope);
}
