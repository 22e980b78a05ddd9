/** Code in pieces by what they are, told by highlight.js, which makes no HTML here. */
import core from 'highlight.js/lib/core';
import { LANGUAGES } from './languages.js';

/** @typedef {import('./types').CodePiece} CodePiece */

// Of the scopes of highlight.js (its CSS class reference) the first word, as one of a few.
const KINDS = new Map(
  Object.entries({
    keyword: 'keyword', operator: '', literal: 'number', number: 'number', symbol: 'number', bullet: 'keyword',
    string: 'string', regexp: 'string', char: 'string', subst: '', link: 'string', code: 'string', quote: 'comment',
    comment: 'comment', doctag: 'comment', meta: 'meta', title: 'name', section: 'name', name: 'keyword', tag: '',
    built_in: 'type', type: 'type', class: 'type', attr: 'field', attribute: 'field', property: 'field',
    variable: 'field', 'selector-tag': 'keyword', 'selector-id': 'name', 'selector-class': 'name',
    'selector-attr': 'field', 'selector-pseudo': 'field', 'template-variable': 'field', 'template-tag': 'keyword',
    addition: 'added', deletion: 'removed', strong: 'name', emphasis: 'string', punctuation: '', params: '',
  }),
);

/** Collects pieces, where highlight.js would build a tree for HTML. */
class Pieces {
  constructor() {
    /** @type {CodePiece[]} */
    this.pieces = [];
    /** @type {string[]} */
    this.scopes = [];
  }

  /** @param {string} text */
  addText(text) {
    const scope = this.scopes.findLast((each) => KINDS.has(each)) ?? '';
    const kind = KINDS.get(scope) ?? '';
    const last = this.pieces[this.pieces.length - 1];
    if (last?.[0] === kind) last[1] += text;
    else if (text) this.pieces.push([kind, text]);
  }

  /** @param {string} scope such as 'title.function' */
  startScope(scope) {
    this.scopes.push(scope.split('.')[0]);
  }

  endScope() {
    this.scopes.pop();
  }

  /** @param {string} scope */
  openNode(scope) {
    this.startScope(scope);
  }

  closeNode() {
    this.endScope();
  }

  /** Of a language within another. @param {Pieces} emitter */
  __addSublanguage(emitter) {
    for (const [kind, text] of emitter.pieces) {
      const last = this.pieces[this.pieces.length - 1];
      if (last?.[0] === kind) last[1] += text;
      else this.pieces.push([kind, text]);
    }
  }

  finalize() {}

  toHTML() {
    return '';
  }
}

const highlighter = core.newInstance();
highlighter.configure(/** @type {any} */ ({ __emitter: Pieces }));
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/**
 * @param {string} text @param {string} lang as it stands behind a fence
 * @returns {CodePiece[] | null} null: the language is not known
 */
export function highlighted(text, lang) {
  const language = lang.toLowerCase();
  if (!highlighter.getLanguage(language)) return null;
  const { _emitter: emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const { pieces } = /** @type {Pieces} */ (/** @type {unknown} */ (emitter));
  return pieces.map((piece) => piece[1]).join('') === text ? pieces : null;
}
