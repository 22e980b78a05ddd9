import { AppError, PromptEmpty } from '../common/errors.js';
import { RemoteBackend } from '../session/remote.js';
import { Sequence } from '../session/sequence.js';
import { PromptMemory } from '../text/prompts.js';
import { TemplateMissing } from './errors.js';

/** @typedef {import('./model.js').OpenModel} OpenModel */
/** @typedef {import('../../types/gatelink.d.ts').Message} Message */

/** One chat's session on the server, and the token ids that its texts became. */
export class ChatSession {
  /**
   * @param {OpenModel} model
   * @param {import('../transport/channel.js').Channel} channel
   */
  constructor(model, channel) {
    const { digest, hiddenSize, maxContext } = model.manifest;
    this._model = model;
    this._backend = new RemoteBackend(channel, { manifest: digest, hiddenSize, maxContext, dtype: null });
    this.sequence = new Sequence(this._backend, (tokens, start, stop) =>
      model.rows(tokens.slice(start, stop), this._backend.dtype),
    );
    this._prompts = model.template && new PromptMemory(model.template, model.tokenizer);
  }

  /** What hidden states travel in; null before the session is open. */
  get dtype() {
    return this._backend.dtype ?? null;
  }

  /**
   * Token ids that a reply continues. Throws TemplateMissing, PromptEmpty and what a template throws.
   * @param {Message[]} messages
   * @param {'chat' | 'plain'} mode
   * @returns {Promise<number[]>}
   */
  async prompt(messages, mode) {
    const last = messages.at(-1);
    if (last === undefined) throw new PromptEmpty();
    const ids = mode === 'plain' ? this._plain(last.content) : await this._rendered(messages);
    if (ids.length === 0) throw new PromptEmpty();
    return ids;
  }

  /**
   * Keeps the ids of a reply as they were generated, for the next prompt.
   * @param {number[]} promptIds @param {string} text @param {number[]} ids
   */
  remember(promptIds, text, ids) {
    this._prompts?.remember(promptIds, text, ids);
  }

  /** Frees the server's cache; the connection may be gone already. */
  async close() {
    try {
      await this.sequence.close();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  /** @param {string} text */
  _plain(text) {
    return this._model.tokenizer.encode(text, { addSpecialTokens: true });
  }

  /** @param {Message[]} messages */
  _rendered(messages) {
    if (this._prompts === null) throw new TemplateMissing();
    return this._prompts.prompt(messages);
  }
}
