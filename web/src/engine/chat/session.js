import { AppError, PromptEmpty } from '../../common/errors.js';
import { OneDtypeBackend } from '../../noise/backend.js';
import { RemoteBackend } from '../../session/remote.js';
import { Sequence } from '../../session/sequence.js';
import { PromptMemory } from '../../text/prompts.js';
import { aborted } from '../../transport/signals.js';
import { TemplateMissing } from '../errors.js';

/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/** @typedef {import('../noise.js').Noised} Noised */
/** @typedef {import('../../../types/gatelink.d.ts').DType} DType */
/** What a server may keep, and for whom. @typedef {{cache?: 'exact' | 'int8' | 'off', cacheSalt?: string | null}} Keeping */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */

/** One chat's session on the server, and the token ids that its texts became. */
export class ChatSession {
  /**
   * @param {OpenModel} model
   * @param {import('../../transport/channel.js').Channel} channel
   * @param {Noised | null} [noised] null: rows are sent as they are
   * @param {Keeping} [keeping]
   * @param {DType | null} [usualDtype] what the server is likely to choose
   */
  constructor(model, channel, noised = null, keeping = {}, usualDtype = null) {
    const { digest, hiddenSize, maxContext } = model.manifest;
    this._model = model;
    this.noised = noised;
    this.cache = keeping.cache;
    const about = { manifest: digest, hiddenSize, maxContext, ...keeping };
    this._backend = noised
      ? new OneDtypeBackend(channel, { ...about, dtype: noised.conversation.dtype }, noised.mode.otherDtype)
      : new RemoteBackend(channel, { ...about, usualDtype });
    this.sequence = new Sequence(
      this._backend,
      (tokens, start, stop, dtype = this._backend.dtype) =>
        noised
          ? noised.conversation.rows(tokens, start, stop, dtype)
          : model.rows(tokens.slice(start, stop), dtype),
      // The name of a noised row would be a release of it.
      { nameable: noised === null && keeping.cache !== 'off' },
    );
    this._prompts = model.template && new PromptMemory(model.template, model.tokenizer);
    this._leaving = new AbortController();
    /** The session is opened before it is needed. @type {Promise<void> | null} */
    this._early = null;
  }

  /** Opens the session before the first message, once: one that is lost is opened again when it is needed. */
  async expect() {
    this._early ??= quietly(this.sequence.maxContext({ signal: this._leaving.signal }));
    await this._early;
  }

  /** Until the session is not being opened early any more. @param {AbortSignal} signal ends the wait */
  async settled(signal) {
    if (this._early) await Promise.race([this._early, aborted(signal)]);
  }

  /** What hidden states travel in; null before the session is open. */
  get dtype() {
    return this._backend.dtype ?? null;
  }

  /** What the server announced; null before the session is open. */
  get opened() {
    return this._backend.announced;
  }

  /**
   * Token ids that a reply continues. Throws TemplateMissing, PromptEmpty and what a template throws.
   * @param {Message[]} messages
   * @param {'chat' | 'plain'} mode
   * @param {number[] | null} [known] them, where an earlier reply was made for them
   * @returns {Promise<number[]>}
   */
  async prompt(messages, mode, known = null) {
    const last = messages.at(-1);
    if (last === undefined) throw new PromptEmpty();
    const ids = mode === 'plain' ? (known ?? this._plain(last.content)) : await this._rendered(messages, known);
    if (ids.length === 0) throw new PromptEmpty();
    return ids;
  }

  /**
   * The token ids of a chat as it is shown, those of its replies as they were generated where that is known.
   * @param {Message[]} messages @param {'chat' | 'plain'} mode
   * @returns {Promise<number[]>}
   */
  async said(messages, mode) {
    const last = messages.at(-1);
    if (last === undefined || last.role !== 'assistant') return this.prompt(messages, mode);
    if (mode !== 'plain') return this._spoken(messages.slice(0, -1), last.content);
    return this._plain(messages.slice(-2).map(({ content }) => content).join(''));
  }

  /**
   * Token ids of a chat as it stands, of which nothing is kept. Throws what a template throws.
   * @param {Message[]} messages @returns {Promise<number[]>}
   */
  async idsOf(messages) {
    return this._prompts?.ids(messages) ?? this._plain(messages.at(-1)?.content ?? '');
  }

  /** Tokens that its session may hold, as far as is known. */
  get limit() {
    const { maxContext } = this._model.manifest;
    return this.dtype === null ? maxContext : Math.min(maxContext, this._backend.maxContext);
  }

  /**
   * Keeps the ids of a reply as they were generated, for the next prompt.
   * @param {number[]} promptIds @param {string} text @param {number[]} ids
   */
  remember(promptIds, text, ids) {
    this._prompts?.remember(promptIds, text, ids);
  }

  /** Ids of a reply that `text` may be. @param {number[]} promptIds @param {string} text */
  following(promptIds, text) {
    const { tokenizer } = this._model;
    return tokenizer.encodeAfter(promptIds, text) ?? tokenizer.encode(text);
  }

  /** A reply has ended: what noise had recorded ahead is given back. */
  async settle() {
    // Where the ledger fails it goes on counting more than was sent.
    await quietly(this.noised?.conversation.close());
  }

  /** Frees the server's cache; the connection may be gone already. */
  async close() {
    this._leaving.abort();
    await this._early;
    await quietly(this.sequence.close());
  }

  /**
   * Has the server delete what it keeps of this chat: of its session and branches, and of the conversations `said`,
   * each of which ends with a reply. What is said next is sent from the beginning.
   * @param {Message[][]} said
   * @returns {Promise<import('../../session/forgetting.js').Forgotten>}
   */
  async forget(said) {
    await this._early;
    const { sequence, _backend: backend } = this;
    const rows = sequence.named;
    const ends = rows ? await this._ends(said) : [];
    const { forget } = await import('../../session/forgetting.js');
    const done = await forget(backend, sequence.leave(), [...sequence.trail.ends, ...ends], rows);
    sequence.trail.clear();
    return done;
  }

  /** Where these conversations may have ended on the server. @param {Message[][]} said */
  async _ends(said) {
    const ends = [];
    for (const messages of said) {
      const ids = await this._rendered(messages.slice(0, -1));
      const end = ids.concat(this.following(ids, messages[messages.length - 1].content));
      // A reply that was cut off ends one token sooner: its last one was never sent.
      ends.push(end, end.slice(0, -1));
    }
    return ends;
  }

  /** @param {string} text */
  _plain(text) {
    return this._model.tokenizer.encode(text, { addSpecialTokens: true });
  }

  /** @param {Message[]} messages @param {string} reply that follows them */
  _spoken(messages, reply) {
    if (this._prompts === null) throw new TemplateMissing();
    return this._prompts.spoken(messages, reply);
  }

  /** @param {Message[]} messages @param {number[] | null} [known] */
  _rendered(messages, known) {
    if (this._prompts === null) throw new TemplateMissing();
    return this._prompts.prompt(messages, known);
  }
}

/** @param {Promise<unknown> | undefined} work of which a failure changes nothing */
async function quietly(work) {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
