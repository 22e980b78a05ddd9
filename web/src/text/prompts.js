// Prompts of chats as token ids, with the ids of replies kept as the model generated them.
//
// A later prompt begins with the ids so far wherever the rendered text begins with the text so far,
// so that a server's cache stays valid and only new tokens travel.
import { PromptEmpty } from '../common/errors.js';

/** @typedef {import('../../types/gatelink.d.ts').Message} Message */
/** @typedef {{text: string, ids: number[]}} Known a text whose ids are known */

/**
 * @typedef {object} Renderer a chat template
 * @property {(messages: Message[], options?: {addGenerationPrompt?: boolean}) => Promise<string>} render
 */
/**
 * @typedef {object} Encoder a tokenizer
 * @property {(text: string) => number[]} encode
 * @property {(ids: number[], text: string) => number[] | null} encodeAfter
 * @property {(ids: number[], skipSpecialTokens?: boolean) => string} decode
 */

// Turns of other branches stay useful for a while, but not without bound.
const KNOWN_TURNS = 16;
const ASKED_PROMPTS = 4;

export class PromptMemory {
  /** @param {Renderer} template @param {Encoder} tokenizer */
  constructor(template, tokenizer) {
    this.template = template;
    this.tokenizer = tokenizer;
    /** @type {Known[]} */
    this.known = [];
    /** @type {Known[]} */
    this.asked = [];
  }

  /**
   * What the next reply continues.
   * @param {Message[]} messages any branch of the chat; the last one is the user's
   * @param {number[] | null} [known] its ids, where an earlier reply was made for them
   * @returns {Promise<number[]>} ids
   * @throws {PromptEmpty | import('./errors.js').TemplateFailed | import('./errors.js').TemplateTooCostly}
   */
  async prompt(messages, known = null) {
    const last = messages.at(-1);
    if (!last || last.role === 'assistant') throw new PromptEmpty();
    const text = await this.template.render(messages);
    const ids = known ?? this.encode(text);
    if (ids.length === 0) throw new PromptEmpty();
    this.asked = [...this.asked.slice(1 - ASKED_PROMPTS), { text, ids }];
    return [...ids];
  }

  /**
   * The ids of a conversation that ends with a reply, as they were generated where that is known.
   * @param {Message[]} messages @param {string} reply
   * @returns {Promise<number[]>}
   */
  async spoken(messages, reply) {
    return this.encode((await this.template.render(messages)) + reply);
  }

  /**
   * Of a chat that may end with a reply; nothing is kept.
   * @param {Message[]} messages
   * @returns {Promise<number[]>} ids, with the beginning of a reply where the last message wants one
   * @throws {import('./errors.js').TemplateFailed | import('./errors.js').TemplateTooCostly}
   */
  async ids(messages) {
    if (!messages.length) return [];
    const addGenerationPrompt = messages[messages.length - 1].role === 'user';
    return this.encode(await this.template.render(messages, { addGenerationPrompt }));
  }

  /**
   * Keeps the ids of a reply, also of one that was stopped.
   * @param {number[]} ids the prompt, as `prompt` gave it
   * @param {string} _replyText what the page shows; the text of the ids counts here
   * @param {ArrayLike<number>} replyIds as they were generated
   */
  remember(ids, _replyText, replyIds) {
    const prompt = this.asked.findLast((known) => sameIds(known.ids, ids));
    if (!prompt) return;
    const reply = Array.from(replyIds);
    const text = prompt.text + this.tokenizer.decode(reply, false);
    this.known = [...this.known.slice(1 - KNOWN_TURNS), { text, ids: [...prompt.ids, ...reply] }];
  }

  /** Ids of `text`, from the longest known beginning on. @param {string} text */
  encode(text) {
    const starts = [...this.known].reverse().flatMap((known) => this.beginnings(known));
    // Sorting is stable: of equally long ones the latest counts.
    starts.sort((a, b) => b.text.length - a.text.length);
    for (const start of starts) {
      if (!text.startsWith(start.text)) continue;
      const rest = this.tokenizer.encodeAfter(start.ids, text.slice(start.text.length));
      if (rest !== null) return [...start.ids, ...rest];
    }
    return this.tokenizer.encode(text);
  }

  /**
   * The known text, and the same without its last token: a reply may end with another token than the
   * one that the template closes a message with.
   * @param {Known} known
   * @returns {Known[]}
   */
  beginnings(known) {
    const last = this.tokenizer.decode(known.ids.slice(-1), false);
    if (!last || !known.text.endsWith(last)) return [known];
    return [known, { text: known.text.slice(0, -last.length), ids: known.ids.slice(0, -1) }];
  }
}

/** @param {number[]} a @param {number[]} b */
function sameIds(a, b) {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
