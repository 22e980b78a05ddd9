import { signal } from '@preact/signals';
import { turnedBack } from '../../chats/context/changes.js';
import { amended, nodeOf, without } from '../../chats/tree.js';
import { t } from '../words/languages/words.js';

/** @typedef {import('../../chats/types').Chat} Chat */
/** @typedef {import('../../chats/types').ChatNode} ChatNode */
/** @typedef {import('./replies.js').Wishes} Wishes */

// As many as the engine keeps.
const MOST = 32;
const LARGEST_SEED = 2n ** 64n - 1n;
// A reply that ended by itself mostly ends again at once; where the context is full, none goes on.
const ENDED = new Set(['eos', 'context']);

/** Whether a reply was cut short, so that it may go on. @param {ChatNode} node */
export function canContinue({ role, content, reason, stats }) {
  if (role !== 'assistant' || !content || reason === undefined || ENDED.has(reason)) return false;
  // A form that is whole ends its reply.
  return !(reason === 'stop' && stats?.form !== undefined);
}

/** Replies that go on, or another way, and messages that are changed or taken out. */
export class Steering {
  /** @param {import('./app.js').App} app */
  constructor(app) {
    this._app = app;
    /**
     * By chat and node: the name by which the engine keeps a reply's tokens, and its text, as another tab may have put
     * another one in its place.
     * @type {import('@preact/signals').Signal<Map<string, {answer: string, text: string}>>}
     */
    this._answers = signal(new Map());
    /** The reply whose tokens are shown. @type {import('@preact/signals').Signal<string | null>} */
    this.looked = signal(null);
  }

  /** A reply stands in its chat, at the leaf. @param {Chat} chat @param {string} answer */
  note({ id, leaf, nodes }, answer) {
    if (leaf === null) return;
    const answers = new Map(this._answers.value);
    answers.delete(`${id}/${leaf}`);
    answers.set(`${id}/${leaf}`, { answer, text: nodes[leaf].content });
    this._answers.value = new Map([...answers].slice(-MOST));
  }

  /** The name of a reply of the shown chat; null: its tokens are not kept. @param {string} node @returns {string | null} */
  answerOf(node) {
    const { id, nodes } = this._app.library.chat.value;
    const kept = this._answers.value.get(`${id}/${node}`);
    return kept && kept.text === nodes[node]?.content ? kept.answer : null;
  }

  /** Shows how likely the tokens of a reply were. @param {string} node */
  look(node) {
    this.looked.value = node;
    this._app.sheet.value = 'likely';
  }

  /** Goes on with a reply from its end. @param {string} node of the shown chat */
  continue(node) {
    const app = this._app;
    app.attempt(() => this._goOn(app.library.chat.value, node, {}, true));
  }

  /** Goes on from one token of a reply, with another one in its place. @param {string} node @param {number} at @param {number} token */
  branch(node, at, token) {
    const app = this._app;
    app.sheet.value = null;
    app.attempt(() => this._goOn(app.library.chat.value, node, { at, token }, false));
  }

  /**
   * Has a reply say something else, in a branch of its own.
   * @param {string} node @param {string} text @param {boolean} goOn whether it goes on from there
   */
  amend(node, text, goOn) {
    const app = this._app;
    if (app.fixed.value || (goOn && app.hindrance.value !== null)) return;
    app.attempt(() => {
      const before = app.library.chat.value;
      const chat = text === nodeOf(before, node).content ? before : amended(before, node, text);
      app.editing.value = null;
      app.library.put(chat);
      if (goOn) this._goOn(chat, chat === before ? node : /** @type {string} */ (chat.leaf), {}, true);
    });
  }

  /** Takes one message out; what follows it stays. @param {string} node */
  remove(node) {
    const app = this._app;
    if (app.fixed.value) return;
    app.attempt(() => {
      const before = app.library.chat.value;
      app.library.put(without(before, node));
      app.takenBack.tell(t('The message is taken out'), before);
    });
  }

  /** @param {Chat} chat @param {string} node @param {{at?: number, token?: number}} where @param {boolean} inPlace */
  _goOn(chat, node, where, inPlace) {
    if (this._app.hindrance.value !== null) return;
    const { content: text, sent, stats } = nodeOf(chat, node);
    const begun = { answer: this.answerOf(node), text, ...(sent !== undefined && { sent }), ...where };
    const asked = turnedBack(chat, node);
    const seeded = inPlace ? (/** @type {Wishes} */ wishes) => withSeed(wishes, stats?.seed) : undefined;
    void this._app.replies.answer(asked, seeded, { node, begun, inPlace, leaf: chat.leaf });
  }
}

/** With the seed that a reply was begun with, unless one is set. @param {Wishes} wishes @param {unknown} seed of anybody @returns {Wishes} */
function withSeed(wishes, seed) {
  const known = typeof seed === 'string' && /^\d{1,20}$/.test(seed) && BigInt(seed) <= LARGEST_SEED;
  return known && wishes.params.seed === undefined ? { ...wishes, params: { ...wishes.params, seed } } : wishes;
}
