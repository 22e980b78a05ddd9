// Text that must come next, and the one token that writes its beginning.
//
// A vocabulary can write most texts in several ways. Where the text is certain the model has nothing to say in it, so
// that the way is chosen for it: as the model's own tokenizer writes the text, up to where what follows could change that.
import { countedClassesOf } from '../language/classes.js';
import { shortest } from '../language/shortest.js';

/** @typedef {import('../language/expressions.js').Expression} Expression */
/** How the tokenizer writes a text; null: unknown. @typedef {(text: string) => Promise<number[] | null>} Encode */

// Bytes that are looked ahead.
const MOST = 96;
const MAX_KNOWN = 2000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class Forced {
  /**
   * @param {import('./trie.js').TokenTree} tree
   * @param {import('../language/expressions.js').Expressions} expressions @param {Encode} encode
   */
  constructor(tree, expressions, encode) {
    this._tree = tree;
    this._x = expressions;
    this._encode = encode;
    /** By forced text. @type {Map<string, number | null>} */
    this._known = new Map();
  }

  /**
   * The token that must come next; null: there is a choice.
   * @param {Expression} of
   * @returns {Promise<number | null>}
   */
  async token(of) {
    const text = this._textAfter(of);
    if (!text) return null;
    let token = this._known.get(text);
    if (token === undefined) {
      token = await this._first(text);
      if (this._known.size >= MAX_KNOWN) this._known.clear();
      this._known.set(text, token);
    }
    return token;
  }

  /** Bytes that every text of it begins with, or the first of them. @param {Expression} of */
  _textAfter(of) {
    let text = '';
    while (text.length < MOST && !of.nullable) {
      const head = of.kind === 'cat' ? of.parts[0] : of;
      const next = head.kind === 'text' ? head.text : this._onlyByte(of);
      if (!next) break;
      text += next;
      for (let at = 0; at < next.length; at++) of = this._x.after(of, next.charCodeAt(at));
    }
    return text.slice(0, MOST);
  }

  /** @param {Expression} of */
  _onlyByte(of) {
    let only = '';
    for (const [byte, count] of countedClassesOf(of)) {
      if (shortest(this._x, this._x.after(of, byte)) === Infinity) continue;
      if (only || count > 1) return '';
      only = String.fromCharCode(byte);
    }
    return only;
  }

  /** @param {string} text bytes @returns {Promise<number | null>} */
  async _first(text) {
    const whole = decoded(text);
    const ids = whole ? await this._encode(whole) : null;
    const token = ids && ids.length ? ids[0] : this._longest(text);
    const own = this._tree.texts[token] ?? '';
    if (!own || !text.startsWith(own)) return null;
    // A longer token may begin within its bytes and reach beyond what is certain.
    for (let at = 0; at < own.length; at++) if (this._tree.goesOn(text, at)) return null;
    return token;
  }

  /** For tokenizers that say nothing: the longest token. @param {string} text */
  _longest(text) {
    let node = 0;
    let found = -1;
    for (let at = 0; at < text.length; at++) {
      node = this._tree.child(node, text.charCodeAt(at));
      if (node === -1) break;
      if (this._tree.has(node)) found = this._tree.order[this._tree.first[node]];
    }
    return found;
  }
}

/** @param {string} bytes without a character that is not whole @returns {string} '' where they are no text */
function decoded(bytes) {
  for (let cut = 0; cut < 4 && cut < bytes.length; cut++) {
    try {
      return utf8.decode(Uint8Array.from(bytes.slice(0, bytes.length - cut), (byte) => byte.charCodeAt(0)));
    } catch {
      // Its end may be within a character.
    }
  }
  return '';
}
