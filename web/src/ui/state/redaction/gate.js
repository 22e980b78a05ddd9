// The only way from the page to an engine for what is said in chats.
import { PartMissing } from '../../../common/errors.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../engine/client.js').EngineClient} Engine */
/** @typedef {import('./veils.js').Veils} Veils */
/** What is told of chats, or asked about what is. @typedef {Pick<Engine, 'reply' | 'count' | 'propose' | 'chatTokens' | 'heads' | 'forgetChat' | 'gathered'>} Telling */

const TOLD = /** @type {const} */ (['count', 'propose', 'chatTokens', 'heads', 'forgetChat', 'gathered']);

/** Gives each chat its engine: as it is, or behind a veil where values of the chat become surrogates. */
export class Gate {
  /** @param {() => Engine} engine @param {import('../chats/library.js').Library} library */
  constructor(engine, library) {
    this._engine = engine;
    this._library = library;
    /** @type {Promise<Veils> | null} */
    this._veils = null;
  }

  /** What knows the rules; loaded when a chat first has redaction. @returns {Promise<Veils>} rejects with PartMissing */
  veils() {
    this._veils ??= import('./veils.js').then(
      ({ Veils }) => new Veils(this._engine, this._library),
      (error) => {
        this._veils = null;
        throw new PartMissing(error);
      },
    );
    return this._veils;
  }

  /** Nothing goes past what could not be loaded. @param {Chat} chat @returns {Telling} */
  of(chat) {
    if (!chat.redaction) return this._engine();
    const veil = async () => (await this.veils()).of(chat);
    const behind = (/** @type {typeof TOLD[number]} */ name) => async (/** @type {any[]} */ ...given) =>
      /** @type {any} */ (await veil())[name](...given);
    /** @type {Telling['reply']} */
    const reply = (request, options) => {
      const ended = { early: false, stop: () => {} };
      const done = veil().then((own) => own.reply(request, options, ended));
      return { done, stop: () => ((ended.early = true), ended.stop()) };
    };
    return /** @type {any} */ ({ reply, ...Object.fromEntries(TOLD.map((name) => [name, behind(name)])) });
  }
}
