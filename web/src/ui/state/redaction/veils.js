// Engines as chats with redaction have them: loaded with the first of those.
import { withEntries } from '../../../chats/redaction/learnt.js';
import { AppError } from '../../../common/errors.js';
import { RedactionClient } from '../../../redaction/apart/client.js';
import { KnownSurrogates } from '../../../redaction/known_surrogates.js';
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
  /**
   * @param {() => Engine} engine @param {Pick<import('../chats/library.js').Library, 'get' | 'change'>} library
   * @param {RedactionClient} [client]
   */
  constructor(engine, library, client = new RedactionClient()) {
    this._engine = engine;
    this._library = library;
    this._client = client;
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
    const count = (/** @type {string[]} */ texts) => Promise.all(texts.map((text) => this._tokens(chat.id, text)));
    /** @type {import('./outgoing.js').Redact} */
    const redact = (texts, own) => this._client.redacted(mapOf(redaction), texts, own, count);
    return new Outgoing(chat, redaction, this.known(chat), redact, this._goneOf(chat.id, redaction));
  }

  /** The map as it is; what it learns is its own. @param {Chat} chat that has redaction @returns {KnownSurrogates} throws RedactionMapInvalid */
  known(chat) {
    const { regions, entries } = this.redactionOf(chat);
    return new KnownSurrogates(regions, /** @type {any} */ (entries));
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
    const redaction = this.redactionOf(chat);
    const sent = Object.values(chat.nodes).filter(({ id }) => Number(id.slice(1)) <= redaction.before);
    return this._client.valuesIn(mapOf(redaction), sent.map(({ content }) => content));
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

/** @param {Redaction} redaction @returns {import('../../../redaction/apart/messages.js').ChatMap} */
function mapOf({ groups, regions, names, secret, entries }) {
  return { groups, regions, names, secret: bytesOf(secret), entries: /** @type {any} */ (entries) };
}

/** @param {string} hex */
function bytesOf(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
