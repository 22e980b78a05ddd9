// The tokens of a chat by the messages that the page shows.
import { sentenceAt, sentencesOf } from '../../../chats/brightness/sentences.js';
import { path, turns } from '../../../chats/tree.js';
import { turnParts } from '../../../chats/brightness/turn_places.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../engine/messages.js').ChatTokens} ChatTokens */
/**
 * What a token wrote of a message: `length` UTF-16 units of its content, from `at` on. `start` and `stop` (exclusive) are
 * its positions: a few tokens may share a character. Message number 0 is the system prompt, node null.
 * @typedef {{start: number, stop: number, node: string | null, number: number, at: number, length: number}} Piece
 */

/** A chat as it was when its tokens were asked for. */
export class TintedChat {
  /** @param {Chat} chat @param {ChatTokens} tokens of its turns */
  constructor(chat, tokens) {
    this.chat = chat;
    this.positions = tokens.positions;
    const nodes = path(chat);
    /** By the node of a message; null: the system prompt. @type {Map<string | null, {content: string, role: string, number: number}>} */
    this.messages = new Map(nodes.map(({ id, content, role }, i) => [id, { content, role, number: i + 1 }]));
    if (chat.system) this.messages.set(null, { content: chat.system, role: 'system', number: 0 });
    this.pieces = piecesOf(tokens, turnParts(chat), this.messages);
    /** The first piece of each message. @type {Map<string | null, number>} */
    this._first = new Map();
    /** @type {Map<string | null, import('../../../chats/brightness/sentences.js').Sentence[]>} */
    this._sentences = new Map();
    this.pieces.forEach(({ node }, i) => this._first.has(node) || this._first.set(node, i));
  }

  /** What an engine is asked about. @param {Chat} chat @param {boolean} hasTemplate */
  static shown(chat, hasTemplate) {
    return { chat: chat.id, messages: turns(chat), mode: /** @type {'chat' | 'plain'} */ (hasTemplate ? 'chat' : 'plain') };
  }

  /** @param {string | null} node @param {number} at in its content @returns {number} of the piece; -1: none */
  pieceAt(node, at) {
    const first = this._first.get(node);
    if (first === undefined) return -1;
    for (let i = first; i < this.pieces.length && this.pieces[i].node === node; i++) {
      if (at < this.pieces[i].at + this.pieces[i].length) return at >= this.pieces[i].at ? i : -1;
    }
    return -1;
  }

  /** @param {number} piece */
  textOf(piece) {
    const { node, at, length } = this.pieces[piece];
    return this.messages.get(node)?.content.slice(at, at + length) ?? '';
  }

  /** The sentence that a piece stands in. @param {number} piece */
  sentenceOf(piece) {
    const { node, at, length } = this.pieces[piece];
    const sentences = this._sentences.get(node) ?? sentencesOf(this.messages.get(node)?.content ?? '');
    this._sentences.set(node, sentences);
    return sentenceAt(sentences, at) ?? { from: at, to: at + length };
  }

  /** Whether a piece is of a reply, and the model chose it. @param {number} piece */
  chosen(piece) {
    return this.messages.get(this.pieces[piece].node)?.role === 'assistant';
  }

  /** The next piece of a reply from one on, in a direction. @param {number} from @param {1 | -1} step @returns {number} -1: none */
  next(from, step) {
    for (let i = from; i >= 0 && i < this.pieces.length; i += step) if (this.chosen(i)) return i;
    return -1;
  }

  /** The position of the first token of a message; null: it has none here. @param {string | null} node */
  startOf(node) {
    const first = this._first.get(node);
    return first === undefined ? null : this.pieces[first].start;
  }

  /** Position at which the last turn of the user begins: all before it is far back. */
  get turnStart() {
    const last = [...this.messages].findLast(([, { role }]) => role === 'user')?.[0];
    const first = last === undefined ? undefined : this._first.get(last);
    return first === undefined ? 0 : this.pieces[first].start;
  }
}

/**
 * @param {ChatTokens} tokens @param {import('../../../chats/brightness/turn_places.js').Part[][]} turns
 * @param {Map<string | null, {number: number}>} known
 * @returns {Piece[]}
 */
function piecesOf({ start, stop, message, at, length }, turns, known) {
  /** @type {Piece[]} */
  const pieces = [];
  for (let i = 0; i < start.length; i++) {
    for (const part of turns[message[i]] ?? []) {
      const from = Math.max(at[i], part.from);
      const to = Math.min(at[i] + length[i], part.from + part.length);
      const number = known.get(part.node)?.number;
      if (to <= from || number === undefined) continue;
      pieces.push({ start: start[i], stop: stop[i], node: part.node, number, at: part.at + from - part.from, length: to - from });
    }
  }
  return pieces;
}
