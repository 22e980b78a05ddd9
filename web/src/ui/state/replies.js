import { signal } from '@preact/signals';
import { describeError } from '../../common/errors.js';
import { earlierReply, reply, turns } from '../../chats/tree.js';
import { formWish } from '../../settings/form.js';
import { noiseWish } from '../../settings/noise.js';
import { Frames } from './frames.js';
import { Pace } from './pace.js';
import { circumstances, mark } from './repeats.js';
import { ALONE } from './tabs/writers.js';

/** @typedef {import('../../chats/types').Chat} Chat */
/** @typedef {import('../../engine/messages.js').Finished} Finished */
/**
 * What of a reply is known while it is made.
 * @typedef {{chat: string, text: string, form?: string | null, tokens: number, ttft: number | null,
 *   tokensPerSecond: number | null}} Live
 */
/** @typedef {{chat: string, stop: () => void, stopping: boolean}} Running */
/**
 * Why a message has no reply, and how it was asked for one.
 * @typedef {{leaf: string, chat: string, code: string, message: string, asked: string}} Missing
 */
/**
 * @template T
 * @typedef {import('@preact/signals').Signal<T>} Signal
 */
/**
 * How replies are to be made.
 * @typedef {{params: Record<string, any>, maxTokens: number, stop: string[], cache?: 'exact' | 'int8' | 'off',
 *   drafts?: 'auto' | 'off', draftMemory?: 'chat' | 'server'}} Wishes
 */

const SNAPSHOT_MS = 3000;

/** The reply that is being made: one at a time, in whichever chat it was asked for. */
export class Replies {
  /**
   * @param {{connection: import('./connection.js').Connection, library: import('./chats/library.js').Library,
   *   wishes: () => Wishes, announcer: import('../words/announce.js').Announcer,
   *   writers?: import('./tabs/writers.js').Writers,
   *   clock?: {frame?: (run: () => void) => unknown, now?: () => number}}} needs
   */
  constructor({ connection, library, wishes, announcer, writers = ALONE, clock = {} }) {
    this._connection = connection;
    this._library = library;
    this._wishes = wishes;
    this._announcer = announcer;
    this._writers = writers;
    /** Tells other tabs that this one writes no more. */
    this._endOfWriting = () => {};
    this._clock = clock;
    this._now = clock.now ?? (() => performance.now());
    /** @type {Signal<Running | null>} */
    this.running = signal(null);
    /** @type {import('@preact/signals').Signal<Live | null>} */
    this.live = signal(null);
    /** @type {Signal<Missing | null>} */
    this.failure = signal(null);
    /** Of the reply before. @type {import('@preact/signals').Signal<Finished | null>} */
    this.last = signal(null);
    /** A reply begins. @type {(chat: Chat) => void} */
    this.onBegin = () => {};
    /** A reply has ended, however it did. @type {(chat: string) => void} */
    this.onEnd = () => {};
    library.keep((id) => this.running.value?.chat === id);
  }

  /**
   * Answers the user's message at the leaf of the chat.
   * @param {Chat} asked @param {(wishes: Wishes) => Wishes} [otherwise] for this reply alone
   */
  async answer(asked, otherwise = (wishes) => wishes) {
    if (this.running.value || this._connection.phase.value.name !== 'ready') return;
    const wishes = otherwise(this._wishes());
    const { manifest } = /** @type {import('../../engine/messages.js').Connected} */ (
      this._connection.phase.value.server
    );
    const chat = { ...asked, model: manifest.name, params: wishes.params };
    // Other tabs look when the chat is saved.
    this._endOfWriting = this._writers.begin(chat.id);
    this._library.put(chat);
    this.onBegin(chat);
    const writing = this._begin(chat);
    writing.asked = circumstances(chat, wishes);
    writing.form = chat.form?.kind ?? null;
    const request = {
      chat: chat.id,
      messages: turns(chat),
      ...wishes,
      adapter: chat.adapter,
      attention: chat.attention === true,
      noise: noiseWish(chat.noise),
      // One that was made with noise must not travel without.
      expected: chat.noise ? '' : earlierReply(chat),
      form: formWish(chat.form),
      mode: /** @type {'chat' | 'plain'} */ (manifest.hasTemplate ? 'chat' : 'plain'),
    };
    try {
      const made = this._connection.engine.reply(request, { onToken: (token) => writing.add(token.text) });
      this.running.value = { chat: chat.id, stop: made.stop, stopping: false };
      this._finish(writing, await made.done);
    } catch (error) {
      this._failed(writing, error);
    }
  }

  /** Ends the reply after its next token. */
  stop() {
    const running = this.running.value;
    if (!running || running.stopping) return;
    this.running.value = { ...running, stopping: true };
    running.stop();
  }

  /** Saves what is there: the page may be about to go. */
  snapshot() {
    this._writing?.save();
  }

  /** @param {Chat} chat */
  _begin(chat) {
    this.failure.value = null;
    this._announcer.begin();
    const save = (/** @type {string} */ text) => {
      // A chat that was deleted meanwhile is not written anew.
      const now = this._library.get(chat.id);
      if (now) this._library.snapshot(reply(now, text, { reason: 'interrupted' }));
    };
    const shown = (/** @type {Live} */ live) => {
      this.live.value = live;
      this._announcer.grow(live.text, this._now());
    };
    this._writing = new Writing(chat.id, { ...this._clock, now: this._now }, shown, save);
    return this._writing;
  }

  /** @param {Writing} writing @param {Finished} done */
  _finish(writing, done) {
    this.last.value = done;
    const { reason, text, ...figures } = done;
    const stats = { ...figures, made: mark(writing.asked), ...(writing.form && { form: writing.form }) };
    this._end(writing, text, reason, stats, reason === 'eos' ? '' : 'Reply ended.');
  }

  /** @param {Writing} writing @param {unknown} error */
  _failed(writing, error) {
    const { code, message } = describeError(error);
    const { text } = writing;
    const chat = this._library.get(writing.chat);
    if (!text && chat?.leaf) this.failure.value = { chat: chat.id, leaf: chat.leaf, code, message, asked: writing.asked };
    this._end(writing, text, code, { message }, message);
    this._connection.replyFailed(error);
  }

  /**
   * @param {Writing} writing
   * @param {string} text
   * @param {string} reason
   * @param {Record<string, any>} stats
   * @param {string} closing words for a screen reader
   */
  _end(writing, text, reason, stats, closing) {
    writing.end();
    this._writing = null;
    const chat = this._library.get(writing.chat);
    // An empty reply that broke off would only stand in the way of asking again.
    if (chat && (text || !('message' in stats))) this._library.put(reply(chat, text, { reason, stats }));
    this.running.value = null;
    this.live.value = null;
    this.onEnd(writing.chat);
    void this._library.release(writing.chat).then(this._endOfWriting);
    this._announcer.finish(text, closing);
  }
}

/** A reply's text as it grows: shown once a frame, saved every few seconds. */
class Writing {
  /**
   * @param {string} chat
   * @param {{frame?: (run: () => void) => unknown, now: () => number}} clock
   * @param {(live: Live) => void} show
   * @param {(text: string) => void} save
   */
  constructor(chat, clock, show, save) {
    this.chat = chat;
    this.text = '';
    /** How the reply was asked for. */
    this.asked = '';
    /** The kind of its form. @type {string | null} */
    this.form = null;
    this._now = clock.now;
    this._save = save;
    this._saved = clock.now();
    this._pace = new Pace(clock.now());
    this._frames = new Frames(() => show(this._live()), clock);
    show(this._live());
  }

  /** @param {string} text */
  add(text) {
    const now = this._now();
    this.text += text;
    this._pace.token(now);
    this._frames.ask();
    if (now - this._saved >= SNAPSHOT_MS) this.save();
  }

  save() {
    if (!this.text) return;
    this._saved = this._now();
    this._save(this.text);
  }

  end() {
    this._frames.end();
  }

  /** @returns {Live} */
  _live() {
    const { tokens, ttft } = this._pace;
    return { chat: this.chat, text: this.text, form: this.form, tokens, ttft, tokensPerSecond: this._pace.perSecond() };
  }
}
