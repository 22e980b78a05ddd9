import { signal } from '@preact/signals';
import { withSettings } from '../../chats/about.js';
import { selectSibling, undo } from '../../chats/tree.js';
import { begunRedaction } from '../../chats/redaction/begun.js';
import { describeError } from '../../common/errors.js';
import { Announcer } from '../words/announce.js';
import { sentence } from '../words/explain.js';
import { Asking } from './asking/asking.js';
import { AttachedFiles } from './attached.js';
import { Attention, replyAtLeaf } from './attention.js';
import { Connection } from './connection.js';
import { Drafts } from './chats/drafts.js';
import { Exchange } from './chats/exchange.js';
import { Gate } from './redaction/gate.js';
import { Elsewhere } from './tabs/elsewhere.js';
import { Library } from './chats/library.js';
import { Removal } from './chats/removal.js';
import { Notices } from './notices.js';
import { Queue } from './queue.js';
import { Readiness } from './readiness.js';
import { Replies } from './replies.js';
import { Meter } from './room/meter.js';
import { Room } from './room/room.js';
import { Steering } from './steering.js';
import { TakenBack } from './taken_back.js';
import { Toasts } from './toasts.js';
import { Traffic } from './traffic.js';
import { wishesOf } from './asking/wishes.js';
import { ALONE } from './tabs/writers.js';
import { t } from '../words/languages/words.js';

/** @typedef {import('../../settings/types').Settings} Settings */
/** @typedef {import('../../../types/gatelink').NoiseChoice} NoiseChoice */
/** @typedef {import('../../chats/types').Chat} Chat */
/** @typedef {'chats' | 'settings' | 'seen' | 'attention' | 'context' | 'likely' | 'heads' | 'redaction'} SheetName */
/** @typedef {import('../../pwa/install.js').InstallState} InstallState */
/** @typedef {{state: InstallState, ask: () => void}} Install */
/**
 * @template T
 * @typedef {import('@preact/signals').Signal<T>} Signal
 */

/** @typedef {import('./needs.js').Needs} Needs */

/** The whole page without its looks: what is shown is in signals, what a user does is a method. */
export class App {
  /** @param {Needs} needs */
  constructor({ spawn, openChats, url, loadToken, settings, saveSettings, forgetToken, cacheSalt, routing = null, memory = null, clock, writers = ALONE,
    showing }) {
    this._saveSettings = saveSettings;
    this.settings = signal(settings);
    this.toasts = new Toasts();
    /** What a screen reader is told. */
    this.spoken = signal('');
    /** @type {Signal<SheetName | null>} */
    this.sheet = signal(null);
    /** Whether and how the app can be installed. @type {Signal<Install>} */
    this.install = signal({ state: 'none', ask: () => {} });
    /** The message of the user that is being edited. @type {Signal<string | null>} */
    this.editing = signal(null);
    /** Whether words are looked for in the shown chat. */
    this.finding = signal(false);
    /** The reply that another one would equal. @type {Signal<string | null>} */
    this.repeating = signal(null);
    const transport = () => this.settings.value.transport;
    this.connection = new Connection({ spawn, url, token: loadToken, forget: forgetToken, salt: cacheSalt, routing, transport, now: clock?.now,
      model: () => this.settings.value.model });
    const defaults = () => {
      const { system, adapter, noise, redaction } = this.settings.value;
      return { system, adapter, noise, redaction: begunRedaction(redaction) };
    };
    this.library = new Library({ open: openChats, toasts: this.toasts, defaults, memory, showing });
    this.gate = new Gate(() => this.connection.engine, this.library);
    this.attached = new AttachedFiles(() => this.library.chat.value);
    /** When the saved chats are there. @type {Promise<void>} */
    this.opened = Promise.resolve();
    this.draft = new Drafts(() => this.library.chat.value, memory);
    this.replies = new Replies({
      connection: this.connection,
      library: this.library,
      gate: this.gate,
      wishes: () => wishesOf(this.settings.value),
      announcer: new Announcer((text) => (this.spoken.value = text)),
      writers,
      clock,
    });
    this._removal = new Removal({
      library: this.library,
      connection: this.connection,
      gate: this.gate,
      replies: this.replies,
      draft: this.draft,
      attached: this.attached,
      toasts: this.toasts,
      tell: (error) => this._tell(error),
    });
    this.exchange = new Exchange(this.library, (error) => this._tell(error));
    this.elsewhere = new Elsewhere(writers, this.library.chat);
    this.attention = new Attention();
    this._notices = new Notices(this.toasts, this.attention, () => this.replies.live.value?.tokens ?? 0);
    this.notice = this._notices.lasting;
    this.connection.onNotice = (notice) => this._notices.take(notice);
    this.replies.onBegin = (chat) => this._began(chat);
    this.replies.onEnd = (chat, whole) => this._ended(chat, whole);
    this.replies.onRefused = (error) => this._tell(error);
    this.steering = new Steering(this);
    this.replies.onAnswer = (chat, answer) => this.steering.note(chat, answer);
    this.queue = new Queue({
      library: this.library,
      draft: this.draft,
      attached: this.attached,
      replies: this.replies,
      ready: () => this.connection.phase.value.name === 'ready',
      tell: (error) => this._tell(error),
    });
    /** What the conversation is tinted with, while it is. @type {Signal<import('./tint/tint.js').Tint | null>} */
    this.tint = signal(null);
    this.traffic = new Traffic(() => this.connection.engine.stats());
    const readiness = new Readiness(this);
    this.hindrance = readiness.hindrance;
    this.busyHere = readiness.busyHere;
    this.fixed = readiness.fixed;
    this.takenBack = new TakenBack(this, (error) => this._tell(error));
    this._asking = new Asking(this, (error) => this._tell(error));
    const { library, connection, gate, toasts } = this;
    this.room = new Room({ library, gate, toasts, fixed: () => this.fixed.value });
    this.replies.room = this.room;
    /** How full the context of the shown chat is. */
    this.meter = new Meter({ library, connection, gate, draft: () => this.written, busy: () => this.busyHere.value });
  }

  /** Opens the saved chats and the connection. */
  async start() {
    this.opened = this.draft.during(() => this.library.start()).catch((error) => this._tell(error));
    await this.connection.connect();
    await this.opened;
  }

  /** @param {Partial<Settings>} changes */
  change(changes) {
    this.settings.value = { ...this.settings.value, ...changes };
    try {
      this._saveSettings(this.settings.value);
    } catch (error) {
      this._tell(error);
    }
  }

  /** Goes on with another of the server's models, null: its first; not while a reply is written. @param {string | null} model */
  async useModel(model) {
    if (this.replies.running.value || model === this.settings.value.model) return;
    this.change({ model });
    await this.connection.change();
  }

  /** The message that is being written, with the files that go with it; '': none. */
  get written() {
    const draft = this.draft.value;
    return draft || this.attached.waiting.value.length ? this.attached.preview(draft) : '';
  }

  /** What stands in the message field now. @param {string} text */
  type(text) {
    this.draft.value = text;
    if (text) this.connection.expect(this.library.chat.value, this.settings.value.server_cache);
  }

  /** Sends a message of the user, when the reply that is being written has ended. @param {string} text @returns {boolean} whether it went */
  send(text) {
    return this._asking.send(text);
  }

  /** Another version of a message, in a branch of its own. @param {string} node @param {string} text */
  edit(node, text) {
    return this._asking.edit(node, text);
  }

  /** @param {Parameters<Asking['regenerate']>} which */
  regenerate(...which) {
    return this._asking.regenerate(...which);
  }

  /** Whether the message that has no reply would get none again, as nothing is other than when it failed. */
  unanswerable() {
    return this._asking.unanswerable();
  }

  /** @param {string} node @param {number} offset */
  branch(node, offset) {
    if (!this.fixed.value) this.library.put(selectSibling(this.library.chat.value, node, offset));
  }

  /** Takes the last exchange off the chat; it stays as a branch and can be brought back. */
  undo() {
    const before = this.library.chat.value;
    const after = undo(before);
    if (this.fixed.value || after === before) return;
    this.library.put(after);
    this.takenBack.tell(t('The last exchange is taken back'), before);
  }

  /** @param {Parameters<typeof withSettings>[1]} about of the shown chat */
  changeChat(about) {
    // The tab that writes the reply could not save it any more.
    if (!this.elsewhere.writing.value) this.library.put(withSettings(this.library.chat.value, about));
  }

  /** @param {NoiseChoice} noise of the shown chat */
  changeNoise(noise) {
    if (this.library.chat.value.roots.length) return this.changeChat({ noise });
    // As with the system prompt: what is chosen before a chat begins is meant for the next ones too.
    const chosen = noise.on ? noise : null;
    this.changeChat({ noise: chosen });
    this.change({ noise: chosen });
  }

  newChat() {
    this.sheet.value = null;
    this.finding.value = false;
    this.editing.value = null;
    this.repeating.value = null;
    this.library.fresh();
  }

  /** @param {string} id */
  async openChat(id) {
    this.sheet.value = null;
    this.finding.value = false;
    this.editing.value = null;
    this.repeating.value = null;
    await this.library.select(id).catch((error) => this._tell(error));
  }

  /** @param {string} id */
  async deleteChat(id) {
    await this._removal.delete(id);
  }

  /** Has the server delete what it keeps of a chat, which stays here. @param {string} id */
  async forgetChat(id) {
    await this._removal.forget(id);
  }

  /** A part of the page cannot be loaded, as where the server has another version by now. */
  missing() {
    this.sheet.value = null;
    this.finding.value = false;
    this.toasts.show(t('This part could not be loaded; reload the page'));
  }

  /** Shows within the conversation what was looked at, or no longer. */
  async toggleTint() {
    const { tintOf } = this.tint.value ? { tintOf: () => null } : await import('./tint/of_page.js');
    this.tint.value = tintOf(this);
  }

  /** The page can be seen again, or the network is back. */
  wake() {
    this.connection.wake();
    this.library.wake().catch((error) => this._tell(error));
  }

  /** The page may not come back. */
  hide() {
    this.replies.snapshot();
    this.draft.keep(this.queue.waiting.value);
  }

  /** The page goes. What began to be saved just now need not get there. */
  leave() {
    this.hide();
    this.library.leave();
  }

  /** @param {Chat} chat whose reply begins */
  _began(chat) {
    this.meter.sent();
    this.attention.begin(chat);
  }

  /** @param {string} chat whose reply has ended @param {boolean} whole by itself */
  _ended(chat, whole) {
    this.queue.ended(chat, whole);
    this._notices.ended();
    this.attention.end(replyAtLeaf(this.library.get(chat)));
    const { given } = this.replies;
    if (given) this.attention.gather(given, this.gate.of(given), this.library).catch((error) => this._tell(error));
  }

  /** Tells why something cannot be done. @param {() => void} step @returns {boolean} whether it was */
  attempt(step) {
    try {
      step();
      return true;
    } catch (error) {
      this._tell(error);
      return false;
    }
  }

  /** @param {unknown} error */
  _tell(error) {
    this.toasts.show(sentence(describeError(error).message));
  }
}
