// What of one chat goes out, and how.
import { Alignment } from '../../../redaction/alignment.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').Redaction} Redaction */
/** @typedef {import('../../../chats/context/spoken.js').Said} Said */
/** @typedef {import('../../../redaction/known_surrogates.js').KnownSurrogates} KnownSurrogates */
/** @typedef {import('../../../redaction/redactor.js').Redacted} Redacted */
/**
 * Texts as they go out, by the map of the chat, none of whose texts may have a surrogate; and what the map has learnt.
 * @typedef {(texts: readonly string[], chat: readonly string[]) => Promise<{made: Redacted[], learnt: readonly import('../../../redaction/entries.js').Entry[]}>} Redact
 */

/** Texts on their way out. While redaction is off they go as they are, and what the model wrote as it was shown. */
export class Outgoing {
  /**
   * @param {Chat} chat @param {Redaction} redaction @param {KnownSurrogates} known its map, which may grow
   * @param {Redact} redact @param {ReadonlyMap<string, Redacted>} gone texts that have gone out, as they went: a chat that
   *   goes on sends new tokens alone
   */
  constructor(chat, redaction, known, redact, gone) {
    this._chat = chat;
    this._known = known;
    this._redact = redact;
    this._gone = gone;
    this._before = redaction.entries.length;
    this.on = redaction.on;
    /** As they go out now. @type {Map<string, Redacted>} */
    this.made = new Map();
  }

  /** What the map has learnt. @returns {Redaction['entries']} */
  get learnt() {
    return this._known.entries.all.slice(this._before);
  }

  /**
   * @param {readonly Said[]} messages @param {readonly string[]} [others] what else goes out, as a form
   * @returns {Promise<{messages: Redacted[], others: Redacted[]}>} rejects as RedactionClient.redacted
   */
  async all(messages, others = []) {
    const said = messages.filter(({ sent }) => sent === undefined).map(({ content }) => content);
    await this._look([...said, ...others], this._texts([...messages.map(({ content }) => content), ...others]));
    return {
      messages: messages.map(({ content, sent }) => {
        return this.on && sent !== undefined ? this._written(content, sent) : this._text(content);
      }),
      others: others.map((text) => this._text(text)),
    };
  }

  /** Has all of them made. @param {readonly string[]} texts @param {readonly string[]} chat */
  async _look(texts, chat) {
    if (!this.on) return;
    const wanted = [...new Set(texts)].filter(Boolean);
    const unseen = wanted.filter((text) => !this._gone.has(text));
    const { made, learnt } = unseen.length ? await this._redact(unseen, chat) : { made: [], learnt: [] };
    for (const entry of learnt) this._known.add(entry);
    const own = new Map(unseen.map((text, i) => [text, made[i]]));
    for (const text of wanted) this.made.set(text, /** @type {Redacted} */ (this._gone.get(text) ?? own.get(text)));
  }

  /** @param {string} text @returns {Redacted} */
  _text(text) {
    return this.made.get(text) ?? { text, alignment: Alignment.same(text) };
  }

  /** What no surrogate may occur in: all branches, and what goes out. @param {string[]} texts */
  _texts(texts) {
    const { system, nodes } = this._chat;
    return [...new Set([system, ...Object.values(nodes).map(({ content }) => content), ...texts])];
  }

  /** What the model wrote goes back as it wrote it. @param {string} content @param {string} sent @returns {Redacted} */
  _written(content, sent) {
    const { text, pieces } = this._known.undone(sent);
    // Of a reply that broke off the end may have been held back.
    const known = text.startsWith(content) ? pieces.filter(({ end }) => end <= content.length) : [];
    return { text: sent, alignment: new Alignment(known, sent.length, content.length).back };
  }
}
