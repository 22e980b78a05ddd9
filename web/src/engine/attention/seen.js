// What the page asks about the tokens of a chat that no reply is being made in.
import { about } from '../context/counter.js';
import { ContextFull, NotReady } from '../errors.js';
import { ChatSession } from '../chat/session.js';
import { chatTokens, headsAt, headsCost } from './chat_tokens.js';

/** @typedef {import('../messages.js').Shown} Shown */
/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/**
 * @typedef {object} Around
 * @property {import('../chat/open_chats.js').OpenChats} chats
 * @property {OpenModel | null} model
 * @property {() => import('../../transport/channel.js').Channel} channel
 * @property {import('../chat/session.js').Keeping} keeping
 */

/**
 * @typedef {({ask: 'tokens'} & Shown) | ({ask: 'heads'} & import('../messages.js').HeadsWish)
 *   | {ask: 'cost', position: number}} Asked
 */

// A text with more characters for each token of the context is not looked at, as nothing could hold it.
const MOST_PER_TOKEN = 16;
// Seconds: a server that is full is not waited for, as somebody looks on.
const WITHIN = 60;

/** @param {Asked} asked @param {Around} around */
export function answer(asked, around) {
  if (asked.ask === 'tokens') return tokensOf(asked, around);
  return asked.ask === 'heads' ? headsOf(asked, around) : costOf(asked, around);
}

/** @param {Shown} shown @param {Around} around @returns {Promise<import('../messages.js').ChatTokens>} */
async function tokensOf(shown, around) {
  const { tokenizer } = opened(around);
  return chatTokens(tokenizer, await idsOf(shown, around), shown.messages);
}

/** @param {import('../messages.js').HeadsWish} wish @param {Around} around */
async function headsOf({ position, noised, cache, ...shown }, around) {
  const ids = await idsOf(shown, around);
  if (!(position >= 1 && position < ids.length)) throw new NotReady('choose a token of a reply');
  return headsAt(ownSession(around, cache), noised, ids.slice(0, position), AbortSignal.timeout(1000 * WITHIN));
}

/** @param {{position: number}} asked @param {Around} around */
function costOf({ position }, around) {
  return headsCost(around.chats.newest?.opened ?? null, opened(around).manifest.hiddenSize, position);
}

/** @param {Shown} shown @param {Around} around */
function idsOf({ chat, messages, mode = 'chat' }, around) {
  const { maxContext } = opened(around).manifest;
  const text = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (text > maxContext * MOST_PER_TOKEN) throw new ContextFull(messages.reduce((sum, { content }) => sum + about(content), 0), maxContext);
  return (around.chats.get(chat) ?? ownSession(around)).said(messages, mode);
}

/** @param {Around} around @param {import('../chat/session.js').Keeping['cache']} [cache] */
function ownSession(around, cache) {
  const { chats, channel, keeping } = around;
  return new ChatSession(opened(around), channel(), null, { ...keeping, cache }, chats.likely);
}

/** @param {Around} around @returns {OpenModel} */
function opened({ model }) {
  if (model === null) throw new NotReady('download the model');
  return model;
}
