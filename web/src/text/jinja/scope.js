// Variables of a template by block.

/** @typedef {import('./values.js').Value} Value */

export class Scope {
  /** @param {Scope | null} parent @param {Map<string, Value>} [names] */
  constructor(parent, names = new Map()) {
    this.parent = parent;
    this.names = names;
  }

  /** @param {string} name @returns {Value} undefined: there is none */
  get(name) {
    for (let scope = /** @type {Scope | null} */ (this); scope; scope = scope.parent) {
      if (scope.names.has(name)) return scope.names.get(name);
    }
    return undefined;
  }

  /** In this block. @param {string} name @param {Value} value */
  set(name, value) {
    this.names.set(name, value);
  }
}
