// What of markdown is not text: targets of links and images, definitions of them, raw HTML.
//
// A renderer may fetch those without being asked, or on a click, so that a value there would be sent to whoever wrote the
// reply. Reads one character at a time, so that it makes no difference in which pieces a reply comes, and protects too
// much rather than too little.
import { RULES } from '../rules.js';

/** @typedef {'text' | 'link' | 'angle' | 'gap' | 'target' | 'tag' | 'mark' | 'raw'} State */

const SPACE = ' \t\n';
const LONGEST_NAME = 16;
const LETTER = /^\p{L}$/u;
const LETTER_OR_NUMBER = /^[\p{L}\p{N}]$/u;
const RAW = new Set(RULES.raw);

export class Protection {
  constructor() {
    /** @type {State} */
    this._state = 'text';
    this._last = '';
    this._escaped = false;
    this._depth = 0;
    this._quote = '';
    this._assigned = false;
    this._element = '';
    this._naming = false;
    this._raw = '';
    this._closing = '';
  }

  /** Whether each of the next units of the reply is protected. @param {string} text @returns {boolean[]} */
  flags(text) {
    const plain = this._state === 'text' && !/[\]<]/.test(this._last + text);
    if (plain && text) this._last = text[text.length - 1];
    if (plain) return Array(text.length).fill(false);
    return Array.from(text).flatMap((character) => Array(character.length).fill(this._take(character)));
  }

  /** @param {string} character @returns {boolean} */
  _take(character) {
    const empty = character === '\n' && this._last === '\n';
    if (empty && this._state !== 'raw' && !this._quote) this._state = 'text';
    const before = this._state;
    this._in(before, character);
    this._last = character;
    return before !== 'text' || this._state !== 'text';
  }

  /** @param {State} state @param {string} character @returns {void} */
  _in(state, character) {
    switch (state) {
      case 'text': return this._inText(character);
      case 'link': return this._inLink(character);
      case 'angle': return this._inAngle(character);
      case 'gap': return this._inGap(character);
      case 'target': return this._inTarget(character);
      case 'tag': return this._inTag(character);
      case 'mark': return void (character === '>' && (this._state = 'text'));
      case 'raw': return this._inRaw(character);
    }
  }

  /** @param {string} character */
  _inText(character) {
    if (this._last === ']' && character === '(') {
      [this._state, this._depth, this._escaped] = ['link', 1, false];
    } else if (this._last === ']' && character === ':') {
      this._state = 'gap';
    } else if (this._last === '<' && (LETTER.test(character) || '/!?'.includes(character))) {
      this._state = LETTER.test(character) || character === '/' ? 'tag' : 'mark';
      [this._quote, this._assigned, this._naming] = ['', false, true];
      this._element = character.toLowerCase();
    }
  }

  /** @param {string} character */
  _inLink(character) {
    if (this._escaped) this._escaped = false;
    else if (character === '\\') this._escaped = true;
    else if (character === '<' && (this._last === '(' || SPACE.includes(this._last))) this._state = 'angle';
    else if (character === '(') this._depth += 1;
    else if (character === ')' && --this._depth === 0) this._state = 'text';
  }

  /** @param {string} character */
  _inAngle(character) {
    if (this._escaped) this._escaped = false;
    else if (character === '\\') this._escaped = true;
    else if (character === '>') this._state = 'link';
  }

  /** @param {string} character */
  _inGap(character) {
    if (!SPACE.includes(character)) this._state = 'target';
  }

  /** @param {string} character */
  _inTarget(character) {
    if (SPACE.includes(character)) this._state = 'text';
  }

  /** @param {string} character */
  _inTag(character) {
    if (this._quote) {
      if (character === this._quote) this._quote = '';
    } else if ((character === '"' || character === "'") && this._assigned) {
      [this._quote, this._naming, this._assigned] = [character, false, false];
    } else if (character === '>') {
      this._opened();
    } else if (SPACE.includes(character)) {
      this._naming = false;
    } else {
      // As browsers read tags: a quotation mark anywhere else is a part of a name.
      this._assigned = character === '=';
      this._name(character);
    }
  }

  /** @param {string} character */
  _name(character) {
    this._naming &&= LETTER_OR_NUMBER.test(character) || '-:/'.includes(character);
    if (this._naming && this._element.length < LONGEST_NAME) this._element += character.toLowerCase();
  }

  /** @param {string} character */
  _inRaw(character) {
    this._closing = (this._closing + character.toLowerCase()).slice(-this._raw.length - 2);
    if (this._closing !== `</${this._raw}`) return;
    [this._state, this._quote, this._assigned] = ['tag', '', false];
    [this._naming, this._element] = [false, '/'];
  }

  _opened() {
    const element = this._element.replace(/\/+$/, '');
    this._state = 'text';
    if (RAW.has(element)) [this._state, this._raw, this._closing] = ['raw', element, ''];
  }
}
