// What of one chat goes out, and how.
import { Alignment } from '../../../redaction/alignment.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').Redaction} Redaction */
/** @typedef {import('../../../chats/context/spoken.js').Said} Said */
/** @typedef {import('../../../redaction/redactor.js').Redactor} Redactor */
/** @typedef {import('../../../redaction/redactor.js').Redacted} Redacted */

/** Texts on their way out. While redaction is off they go as they are, and what the model wrote as it was shown. */
export class Outgoing {
  /**
   * @param {Chat} chat @param {Redaction} redaction @param {Redactor} redactor of it, which may grow
   * @param {ReadonlyMap<string, Redacted>} gone texts that have gone out, as they went: a chat that goes on sends new tokens alone
   */
  constructor(chat, redaction, redactor, gone) {
    this._chat = chat;
    this._gone = gone;
    this._before = redaction.entries.length;
    this.on = redaction.on;
    this.redactor = redactor;
    /** As they go out now. @type {Map<string, Redacted>} */
    this.made = new Map();
  }

  /** What the map has learnt. @returns {Redaction['entries']} */
  get learnt() {
    return this.redactor.entries.all.slice(this._before);
  }

  /**
   * @param {readonly Said[]} messages @param {readonly string[]} [others] what else goes out, as a form
   * @returns {Promise<{messages: Redacted[], others: Redacted[]}>} throws RedactionExhausted
   */
  async all(messages, others = []) {
    const chat = this._texts([...messages.map(({ content }) => content), ...others]);
    const made = { messages: /** @type {Redacted[]} */ ([]), others: /** @type {Redacted[]} */ ([]) };
    for (const { content, sent } of messages) {
      made.messages.push(this.on && sent !== undefined ? this._written(content, sent) : await this._text(content, chat));
    }
    for (const text of others) made.others.push(await this._text(text, chat));
    return made;
  }

  /** @param {string} text @param {readonly string[]} chat */
  async _text(text, chat) {
    if (!this.on || !text) return { text, alignment: Alignment.same(text) };
    const made = this._gone.get(text) ?? this.made.get(text) ?? (await this.redactor.redacted(text, chat));
    this.made.set(text, made);
    return made;
  }

  /** What no surrogate may occur in: all branches, and what goes out. @param {string[]} texts */
  _texts(texts) {
    const { system, nodes } = this._chat;
    return [...new Set([system, ...Object.values(nodes).map(({ content }) => content), ...texts])];
  }

  /** What the model wrote goes back as it wrote it. @param {string} content @param {string} sent @returns {Redacted} */
  _written(content, sent) {
    const { text, pieces } = this.redactor.undone(sent);
    // Of a reply that broke off the end may have been held back.
    const known = text.startsWith(content) ? pieces.filter(({ end }) => end <= content.length) : [];
    return { text: sent, alignment: new Alignment(known, sent.length, content.length).back };
  }
}
