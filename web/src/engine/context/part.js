// What is loaded when a chat is first counted.
import { PromptMemory } from '../../text/prompts.js';
import { ChatContext } from './chat_context.js';
import { TokenCounter } from './counter.js';

/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/** @typedef {import('../chat/session.js').ChatSession} ChatSession */

/** @type {WeakMap<OpenModel, TokenCounter>} */
const counters = new WeakMap();

/** Counts by a model's tokenizer, once for each text. @param {OpenModel} model */
export function counterOf(model) {
  let counter = counters.get(model);
  if (!counter) counters.set(model, (counter = new TokenCounter(model.tokenizer)));
  return counter;
}

/** @param {OpenModel} model @param {ChatSession | undefined} session of the chat, where it has one */
export function contextOf(model, session) {
  const counter = counterOf(model);
  const { template, tokenizer, manifest } = model;
  if (session) {
    const shared = (/** @type {number[]} */ ids) => session.sequence.shared(ids);
    return new ChatContext({ counter, idsOf: (messages) => session.idsOf(messages), shared, limit: session.limit });
  }
  const prompts = template && new PromptMemory(template, tokenizer);
  /** @param {import('../../../types/gatelink.d.ts').Message[]} messages */
  const idsOf = async (messages) => prompts?.ids(messages) ?? tokenizer.encode(messages.at(-1)?.content ?? '');
  return new ChatContext({ counter, idsOf, shared: () => 0, limit: manifest.maxContext });
}
