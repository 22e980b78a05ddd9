// Engines as chats with redaction have them: loaded with the first of those.
import { withEntries } from '../../../chats/redaction/learnt.js';
import { AppError } from '../../../common/errors.js';
import { Redactor } from '../../../redaction/redactor.js';
import { Outgoing } from './outgoing.js';
import { Veil } from './veil.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').Redaction} Redaction */
/** @typedef {import('../../../engine/client.js').EngineClient} Engine */
/** @typedef {import('../../../redaction/alignment.js').Alignment} Alignment */
/**
 * A text as it would go out, and which pieces of it stand for which of the text.
 * @typedef {{text: string, pieces: readonly import('../../../redaction/alignment.js').Piece[]}} Previewed
 */
/** @typedef {{settings: string, texts: Map<string, import('../../../redaction/redactor.js').Redacted>}} Gone */

const MOST_CHATS = 8;
const MOST_TEXTS = 4096;

export class Veils {
  /** @param {() => Engine} engine @param {Pick<import('../chats/library.js').Library, 'get' | 'change'>} library */
  constructor(engine, library) {
    this._engine = engine;
    this._library = library;
    /** How the messages of the latest reply's prompt were sent. @type {{chat: string, alignments: Alignment[]} | null} */
    this.latest = null;
    /** By chat: texts that have gone out, as they went. @type {Map<string, Gone>} */
    this._gone = new Map();
  }

  /** @param {Chat} chat that has redaction */
  of(chat) {
    return new Veil(this, this._engine(), chat);
  }

  /** As it is by now. @param {Chat} chat that has redaction */
  redactionOf(chat) {
    return /** @type {Redaction} */ (this._library.get(chat.id)?.redaction ?? chat.redaction);
  }

  /** What of a chat goes out. @param {Chat} chat that has redaction */
  outgoing(chat) {
    const redaction = this.redactionOf(chat);
    return new Outgoing(chat, redaction, this.redactor(chat), this._goneOf(chat.id, redaction));
  }

  /** With the map as it is; what it learns is its own. @param {Chat} chat that has redaction @returns {Redactor} throws RedactionMapInvalid */
  redactor(chat) {
    const redaction = this.redactionOf(chat);
    const count = (/** @type {string[]} */ texts) => Promise.all(texts.map((text) => this._tokens(chat.id, text)));
    return new Redactor(redaction, bytesOf(redaction.secret), /** @type {any} */ (redaction.entries), count);
  }

  /**
   * A text as it would go out in a chat; nothing is changed.
   * @param {Chat} chat that has redaction @param {string} text @returns {Promise<Previewed>}
   */
  async preview(chat, text) {
    const { others } = await this.outgoing(chat).all([], [text]);
    return { text: others[0].text, pieces: others[0].alignment.pieces };
  }

  /** Values in what a chat may have sent as it is, each once. @param {Chat} chat that has redaction @returns {Promise<string[]>} */
  async wentOut(chat) {
    const { before } = this.redactionOf(chat);
    const texts = Object.values(chat.nodes).filter(({ id }) => Number(id.slice(1)) <= before).map(({ content }) => content);
    const redactor = this.redactor(chat);
    /** @type {Set<string>} */
    const found = new Set();
    for (const text of texts) for (const value of redactor.valuesIn(text)) found.add(value);
    return [...found];
  }

  /** This goes out now; what was learnt for it is saved with its chat. @param {Chat} chat @param {Outgoing} out */
  async keep({ id }, out) {
    const own = this._gone.get(id);
    const texts = [...(own?.texts ?? []), ...out.made].slice(-MOST_TEXTS);
    this._gone.delete(id);
    if (own) this._gone.set(id, { ...own, texts: new Map(texts) });
    const { learnt } = out;
    if (!learnt.length) return;
    await this._library.change(id, (now) => {
      const redaction = now.redaction && withEntries(now.redaction, learnt);
      return redaction === now.redaction ? now : { ...now, redaction };
    });
  }

  /** What has gone out of a chat, as long as its settings stay. @param {string} id @param {Redaction} redaction */
  _goneOf(id, { on, groups, regions, names }) {
    const settings = JSON.stringify([on, groups, regions, names]);
    const own = this._gone.get(id);
    if (own?.settings === settings) return own.texts;
    const texts = new Map();
    this._gone.set(id, { settings, texts });
    for (const oldest of [...this._gone.keys()].slice(0, -MOST_CHATS)) this._gone.delete(oldest);
    return texts;
  }

  /** @param {string} chat @param {string} text */
  async _tokens(chat, text) {
    const engine = this._engine();
    const count = async () => (await engine.count(chat, null, text)).text;
    try {
      return await count();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'not_ready')) throw error;
      // Its ends were let go of; a reply opens them again.
      await engine.prepare();
      return count();
    }
  }
}

/** @param {string} hex */
function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
