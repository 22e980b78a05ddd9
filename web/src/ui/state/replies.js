import { signal } from '@preact/signals';
import { describeError } from '../../common/errors.js';
import { placeOf } from '../../adapters/place.js';
import { brightnessOfTurns } from '../../chats/brightness/kept.js';
import { turnedBack } from '../../chats/context/changes.js';
import { continued, earlierReply, nodeOf, reply, turns } from '../../chats/tree.js';
import { newId } from '../../chats/ids.js';
import { loadHostToken } from '../../pairing/host_tokens.js';
import { formWish } from '../../settings/form.js';
import { noiseWish } from '../../settings/noise.js';
import { Frames } from './frames.js';
import { Pace } from './pace.js';
import { circumstances, mark } from './asking/repeats.js';
import { ALONE } from './tabs/writers.js';
import { t } from '../words/languages/words.js';

/** @typedef {import('../../chats/types').Chat} Chat */
/** @typedef {import('../../engine/messages.js').Finished} Finished */
/**
 * What of a reply is known while it is made.
 * @typedef {{chat: string, text: string, form?: string | null, tokens: number, ttft: number | null,
 *   tokensPerSecond: number | null}} Live
 */
/** `over`: the reply in whose place this one is shown. @typedef {{chat: string, stop: () => void, stopping: boolean, over: string | null}} Running */
/**
 * A reply that is gone on from: its `node`, and what of it is there. `inPlace`: it grows; else the new one is a branch
 * beside it. `leaf`: the one of the chat, which it keeps where nothing comes of it.
 * @typedef {{node: string, begun: import('../../engine/messages.js').Begun, inPlace: boolean, leaf: string | null}} From
 */
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
/** What a prompt may have, and what becomes of one that has no room. @typedef {Pick<import('./room/room.js').Room, 'wish' | 'fit'>} Fitting */

const SNAPSHOT_MS = 3000;

/** The reply that is being made: one at a time, in whichever chat it was asked for. */
export class Replies {
  /**
   * @param {{connection: import('./connection.js').Connection, library: import('./chats/library.js').Library,
   *   gate: import('./redaction/gate.js').Gate, wishes: () => Wishes, announcer: import('../words/announce.js').Announcer,
   *   writers?: import('./tabs/writers.js').Writers,
   *   clock?: {frame?: (run: () => void) => unknown, now?: () => number}}} needs
   */
  constructor({ connection, library, gate, wishes, announcer, writers = ALONE, clock = {} }) {
    this._connection = connection;
    this._gate = gate;
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
    /** A reply has ended, however it did; `whole`: by itself. @type {(chat: string, whole: boolean) => void} */
    this.onEnd = () => {};
    /** @type {Fitting | null} */
    this.room = null;
    /** A reply stands in its chat, and the engine has its tokens by a name. @type {(chat: Chat, answer: string) => void} */
    this.onAnswer = () => {};
    /** Nothing came of a reply that was to go on. @type {(error: unknown) => void} */
    this.onRefused = () => {};
    /** What the latest reply is an answer to. @type {Chat | null} */
    this.given = null;
    library.keep((id) => this.running.value?.chat === id);
  }

  /**
   * Answers the user's message at the leaf of the chat, or goes on from the reply there.
   * @param {Chat} asked @param {(wishes: Wishes) => Wishes} [otherwise] for this reply alone
   * @param {From | null} [from] the reply at the leaf
   */
  async answer(asked, otherwise = (wishes) => wishes, from = null) {
    if (this.running.value || this._connection.phase.value.name !== 'ready') return;
    const wishes = otherwise(this._wishes());
    const { manifest } = /** @type {import('../../engine/messages.js').Connected} */ (
      this._connection.phase.value.server
    );
    const chat = { ...asked, model: manifest.name, served: this._connection.model, params: wishes.params };
    // Other tabs look when the chat is saved.
    this._endOfWriting = this._writers.begin(chat.id);
    this._library.put(chat);
    this.onBegin(chat);
    const writing = this._begin(chat, from);
    writing.asked = circumstances(chat, wishes);
    writing.form = chat.form?.kind ?? null;
    const request = {
      chat: chat.id,
      ...this._given(chat, from),
      ...(this.room && { context: this.room.wish(chat) }),
      ...wishes,
      answer: writing.answer,
      begun: from && from.begun,
      adapter: chat.adapter,
      adapterToken: loadHostToken(placeOf(chat.adapter).host),
      attention: chat.attention === true,
      noise: noiseWish(chat.noise),
      // One that was made with noise must not travel without.
      expected: chat.noise || from ? '' : earlierReply(chat),
      form: formWish(chat.form),
      mode: /** @type {'chat' | 'plain'} */ (manifest.hasTemplate ? 'chat' : 'plain'),
    };
    try {
      this._finish(writing, await this._made(request, writing).catch((error) => this._fitted(request, writing, wishes, error)));
    } catch (error) {
      this._failed(writing, error);
    }
  }

  /** What the model is told of a chat. @param {Chat} chat @param {From | null} from */
  _given(chat, from) {
    const given = from ? turnedBack(chat, nodeOf(chat, from.node).parent) : chat;
    this.given = given;
    return { messages: turns(given), ...(chat.attention && { brightness: brightnessOfTurns(given) }) };
  }

  /** @param {import('../../engine/messages.js').ReplyRequest} request @param {Writing} writing */
  _made(request, writing) {
    const { given } = this;
    const engine = this._gate.of(/** @type {Chat} */ (given));
    const made = engine.reply(request, { onToken: (token) => this._told(writing, token) });
    const over = writing.from && writing.from.node;
    this.running.value = { chat: request.chat, stop: made.stop, stopping: false, over };
    return made.done;
  }

  /**
   * Once more with less of the chat, where that is why there was no reply.
   * @param {import('../../engine/messages.js').ReplyRequest} request @param {Writing} writing @param {Wishes} wishes
   * @param {unknown} error
   */
  async _fitted(request, writing, wishes, error) {
    const less = writing.fresh ? null : await this.room?.fit(request.chat, error);
    if (!less || this.running.value?.stopping) throw error;
    writing.asked = circumstances(less, wishes);
    return this._made({ ...request, ...this._given(less, writing.from) }, writing);
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

  /** @param {Writing} writing @param {import('../../engine/messages.js').Token} token */
  _told(writing, { text, begun, sent }) {
    if (!begun) return writing.add(text, sent);
    this._announcer.begin(text.length);
    return writing.begin(text, sent);
  }

  /** @param {Chat} chat @param {From | null} from */
  _begin(chat, from) {
    this.failure.value = null;
    this._announcer.begin(from?.inPlace ? from.begun.text.length : 0);
    const save = (/** @type {string} */ text, /** @type {string | undefined} */ sent) => {
      // A chat that was deleted meanwhile is not written anew.
      const now = this._library.get(chat.id);
      if (now) this._library.snapshot(placed(now, from, text, { reason: 'interrupted', sent }));
    };
    const shown = (/** @type {Live} */ live) => {
      this.live.value = live;
      this._announcer.grow(live.text, this._now());
    };
    this._writing = new Writing(chat.id, { ...this._clock, now: this._now }, shown, save);
    this._writing.from = from;
    if (from?.inPlace) this._writing.begin(from.begun.text, from.begun.sent);
    return this._writing;
  }

  /** @param {Writing} writing @param {Finished} done */
  _finish(writing, done) {
    this.last.value = done;
    const { reason, text, sent, ...figures } = done;
    writing.sent = sent;
    // Asked for anew, one that went on from a token would be another.
    const made = writing.from ? {} : { made: mark(writing.asked) };
    const stats = { ...figures, ...made, ...(writing.form && { form: writing.form }) };
    this._end(writing, text, reason, stats, reason === 'eos' ? '' : t('Reply ended.'));
  }

  /** @param {Writing} writing @param {unknown} error */
  _failed(writing, error) {
    const { code, message } = describeError(error);
    const { text } = writing;
    const chat = this._library.get(writing.chat);
    if (writing.from && !writing.fresh) this.onRefused(error);
    else if (!text && chat?.leaf) this.failure.value = { chat: chat.id, leaf: chat.leaf, code, message, asked: writing.asked };
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
    if (chat) this._place(chat, writing, text, { reason, stats, sent: writing.sent });
    const stopped = reason === 'cancelled' || this.running.value?.stopping === true;
    this.running.value = null;
    this.live.value = null;
    this.onEnd(writing.chat, !('message' in stats) && !stopped);
    void this._library.release(writing.chat).then(this._endOfWriting);
    this._announcer.finish(text, closing);
  }

  /**
   * @param {Chat} chat @param {Writing} writing @param {string} text
   * @param {{reason: string, stats: Record<string, any>, sent?: string}} about
   */
  _place(chat, { from, fresh, answer }, text, about) {
    const failed = 'message' in about.stats;
    if (from && !fresh && (failed || about.reason === 'cancelled')) {
      // Nothing has come of it: the chat is as it was.
      return this._library.put({ ...chat, leaf: from.leaf });
    }
    // An empty reply that broke off would only stand in the way of asking again.
    if (!text && failed) return undefined;
    const after = placed(chat, from, text, about);
    this._library.put(after);
    return this.onAnswer(after, answer);
  }
}

/**
 * The chat with a reply in its place.
 * @param {Chat} chat @param {From | null} from @param {string} text
 * @param {{reason: string, stats?: Record<string, any>, sent?: string}} about
 */
function placed(chat, from, text, about) {
  if (from === null) return reply(chat, text, about);
  if (from.inPlace) return continued(chat, from.node, text, about);
  return reply(turnedBack(chat, nodeOf(chat, from.node).parent), text, about);
}

/** A reply's text as it grows: shown once a frame, saved every few seconds. */
class Writing {
  /**
   * @param {string} chat
   * @param {{frame?: (run: () => void) => unknown, now: () => number}} clock
   * @param {(live: Live) => void} show
   * @param {(text: string, sent?: string) => void} save
   */
  constructor(chat, clock, show, save) {
    this.chat = chat;
    this.text = '';
    /** What the model wrote, where the text is another one. @type {string | undefined} */
    this.sent = undefined;
    /** How the reply was asked for. */
    this.asked = '';
    /** The kind of its form. @type {string | null} */
    this.form = null;
    /** The name by which the engine keeps its tokens. */
    this.answer = newId();
    /** @type {From | null} */
    this.from = null;
    /** Whether something has come of it. */
    this.fresh = false;
    this._now = clock.now;
    this._save = save;
    this._saved = clock.now();
    this._pace = new Pace(clock.now());
    this._shown = () => show(this._live());
    this._frames = new Frames(this._shown, clock);
    this._shown();
  }

  /** What is there before its first token. @param {string} text @param {string} [sent] */
  begin(text, sent) {
    this.text = text;
    this.sent = sent;
    this._shown();
  }

  /** @param {string} text @param {string} [sent] */
  add(text, sent) {
    const now = this._now();
    this.fresh = true;
    this.text += text;
    if (sent !== undefined) this.sent = (this.sent ?? '') + sent;
    this._pace.token(now);
    this._frames.ask();
    if (now - this._saved >= SNAPSHOT_MS) this.save();
  }

  save() {
    if (!this.text || (this.from && !this.fresh)) return;
    this._saved = this._now();
    this._save(this.text, this.sent);
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
