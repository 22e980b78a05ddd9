import { signal } from '@preact/signals';
import { describeError } from '../../../common/errors.js';
import { TintedChat } from './tinted_chat.js';
import { placesIn, sharesIn } from './places.js';

/** @typedef {import('../../../engine/client.js').EngineClient} Engine */
/** @typedef {import('../../../engine/messages.js').Heads} Heads */
/** @typedef {import('./places.js').Shares} Shares */
/** @typedef {import('./places.js').Place} Place */
/** One head alone; null: the mean of all heads of all layers. @typedef {{layer: number, head: number} | null} Alone */
/**
 * What was looked at to choose a piece. `shares` null: nobody kept it, and `cost` are the bytes at most of fetching it
 * (null: not known before a session was open).
 * @typedef {{piece: number, alone: Alone, shares: Shares | null, places: Place[], asking?: boolean,
 *   cost: {up: number, down: number} | null}} Looked
 */
/**
 * @typedef {object} Needs
 * @property {() => Pick<Engine, 'looked' | 'farBack' | 'headsCost'>} engine
 * @property {(chat: import('../../../chats/types').Chat) => Pick<Engine, 'chatTokens' | 'heads'>} of the engine of one chat
 * @property {() => boolean} hasTemplate
 * @property {() => string | null} kept the node of the reply whose rows are kept
 * @property {() => 'exact' | 'int8' | 'off'} cache what the server may keep
 */

const MOST_PLACES = 8;

/** What is shown of the attention within one chat. */
export class Tint {
  /** @param {Needs} needs */
  constructor(needs) {
    this._needs = needs;
    /** @type {import('@preact/signals').Signal<TintedChat | null>} */
    this.chat = signal(null);
    /** Why its tokens are not known. */
    this.problem = signal(/** @type {string | null} */ (null));
    /** @type {import('@preact/signals').Signal<Looked | null>} */
    this.looked = signal(null);
    /** All heads of the piece that was looked at. @type {import('@preact/signals').Signal<(Heads & {piece: number}) | null>} */
    this.heads = signal(null);
    this.fetching = signal(false);
    /** For each token of the latest reply the share that lies before its turn. @type {import('@preact/signals').Signal<{first: number, shares: Float32Array} | null>} */
    this.far = signal(null);
    this._asked = 0;
  }

  /** Another chat, or another state of it, is shown. @param {import('../../../chats/types').Chat} chat */
  async show(chat) {
    const asked = ++this._asked;
    const same = this.chat.value?.chat.id === chat.id;
    if (!same) this.chat.value = null;
    this.forget();
    try {
      const shown = TintedChat.shown(chat, this._needs.hasTemplate());
      const tokens = shown.messages.length ? await this._needs.of(chat).chatTokens(shown) : null;
      if (asked !== this._asked) return;
      const tinted = tokens && new TintedChat(chat, tokens);
      const far = tinted && (await this._farBack(tinted));
      if (asked !== this._asked) return;
      this.problem.value = null;
      this.chat.value = tinted;
      this.far.value = far?.shares.length ? far : null;
    } catch (error) {
      if (asked === this._asked) this.problem.value = describeError(error).message;
    }
  }

  /** No token is chosen any more. */
  forget() {
    this.looked.value = null;
    this.heads.value = null;
    this.problem.value = null;
  }

  /** Asks what was looked at to choose a piece of a reply. @param {number} piece */
  async choose(piece) {
    const chat = this.chat.value;
    if (!chat || !chat.chosen(piece)) return;
    if (this.heads.value?.piece !== piece) this.heads.value = null;
    const { start } = chat.pieces[piece];
    this.looked.value = { piece, alone: null, shares: null, places: [], cost: null, asking: true };
    await this._trying(async () => {
      const row = await this._kept(chat, piece);
      const cost = this._needs.engine().headsCost(start);
      // What all heads would cost is no reason not to tell of the row that is there.
      const told = await (row ? cost.catch(() => null) : cost);
      if (this.chat.value === chat && this.looked.value?.piece === piece) this._tell(piece, row, null, told);
    });
    if (this.looked.value?.piece === piece && this.looked.value.asking) this._tell(piece, null, null, null);
  }

  /** Chooses the piece of a reply before or behind the chosen one. @param {1 | -1} step */
  async move(step) {
    const chat = this.chat.value;
    if (!chat) return;
    const at = this.looked.value?.piece;
    const from = at === undefined ? (step > 0 ? 0 : chat.pieces.length - 1) : at + step;
    const next = chat.next(from, step);
    if (next >= 0) await this.choose(next);
  }

  /** Fetches all heads of the chosen piece. */
  async fetchHeads() {
    const [chat, looked] = [this.chat.value, this.looked.value];
    if (!chat || !looked || this.fetching.value) return;
    const { start } = chat.pieces[looked.piece];
    const noised = Boolean(chat.chat.noise);
    const shown = TintedChat.shown(chat.chat, this._needs.hasTemplate());
    this.fetching.value = true;
    await this._trying(async () => {
      const heads = await this._needs.of(chat.chat).heads({ ...shown, position: start, noised, cache: this._needs.cache() });
      if (this.chat.value !== chat || this.looked.value?.piece !== looked.piece) return;
      this.heads.value = { ...heads, piece: looked.piece };
      if (!looked.shares) this.showAlone(null);
    });
    this.fetching.value = false;
  }

  /** Shows one head of the chosen piece, or the mean of all. @param {Alone} alone */
  showAlone(alone) {
    const heads = this.heads.value;
    if (heads) this._tell(heads.piece, alone ? headRow(heads, alone) : meanRow(heads), alone, null);
    else if (this.looked.value) void this.choose(this.looked.value.piece);
  }

  /** The row of a piece, if it is kept for the very tokens that are shown. @param {TintedChat} chat @param {number} piece */
  async _kept(chat, piece) {
    const { node, start } = chat.pieces[piece];
    const reply = chat.startOf(node);
    if (node === null || node !== this._needs.kept() || reply === null) return null;
    return this._needs.engine().looked(chat.chat.id, start, reply);
  }

  /** @param {TintedChat} chat */
  async _farBack(chat) {
    const reply = chat.startOf(this._needs.kept());
    return reply === null ? null : this._needs.engine().farBack(chat.chat.id, chat.turnStart, reply);
  }

  /** @param {number} piece @param {Float32Array | null} row @param {Alone} alone @param {Looked['cost']} cost */
  _tell(piece, row, alone, cost) {
    const chat = /** @type {TintedChat} */ (this.chat.value);
    const shares = row && sharesIn(row, chat);
    this.looked.value = { piece, alone, shares, places: shares ? placesIn(shares, chat, MOST_PLACES) : [], cost };
  }

  /** @param {() => Promise<void>} work */
  async _trying(work) {
    try {
      this.problem.value = null;
      await work();
    } catch (error) {
      this.problem.value = describeError(error).message;
    }
  }
}

/** @param {Heads} heads @param {{layer: number, head: number}} which */
export function headRow({ layers, heads, weights }, { layer, head }) {
  const width = weights.length / (layers * heads);
  const row = layer * heads + head;
  return weights.subarray(row * width, (row + 1) * width);
}

/** @param {Heads} heads */
function meanRow({ layers, heads, weights }) {
  const rows = layers * heads;
  const width = weights.length / rows;
  const mean = new Float32Array(width);
  for (let i = 0; i < weights.length; i++) mean[i % width] += weights[i] / rows;
  return mean;
}
