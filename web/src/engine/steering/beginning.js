// Where a reply begins: with nothing, or with what is there of it.
import { BranchInvalid, NothingToContinue } from './errors.js';

/** @typedef {import('./token_log.js').Kept} Kept */
/** @typedef {import('./answers.js').Answered} Answered */
/** @typedef {import('../messages.js').Begun} Begun */
/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/**
 * `after`: the tokens that followed the place that a branch goes on from.
 * @typedef {{prompt: number[], kept: Kept[], after: number[]}} Beginning
 */

// Room enough for whatever may follow: only what is there is asked about.
const ROOM = 2 ** 20;

/**
 * The prompt of a reply, and the tokens that it begins with.
 * Throws NothingToContinue, BranchInvalid, and what making the prompt throws.
 * @param {import('../chat/session.js').ChatSession} chat @param {OpenModel} model
 * @param {import('./answers.js').Answers} answers @param {ReplyRequest} request
 * @returns {Promise<Beginning>}
 */
export async function beginningOf(chat, model, answers, request) {
  const { messages, mode = 'chat', begun } = request;
  const answered = begun ? answers.to(begun.answer, request) : null;
  const prompt = await chat.prompt(messages, mode, answered && [...answered.prompt]);
  if (!begun) return { prompt, kept: [], after: [] };
  if (begun.token !== undefined) return { prompt, ...branched(model, answered, begun) };
  const kept = (answered && wholeOf(model, answered, begun.text)) ?? spelled(chat, prompt, begun.text);
  return { prompt, kept, after: [] };
}

/**
 * Has the form of a reply accept what is there of it. Throws BranchInvalid for what it does not permit.
 * @param {import('../../generation/loop.js').Constraint | null} constraint @param {number[]} ids
 */
export async function tell(constraint, ids) {
  if (constraint === null || !ids.length) return;
  const permitted = await constraint.permitted(ids, ROOM);
  if (permitted < ids.length) {
    throw new BranchInvalid(
      `the form of replies does not permit token ${permitted + 1}; choose another one, or take the form away`,
    );
  }
  for (const token of ids) await constraint.accept(token);
}

/**
 * The first tokens of a reply, and their text; a character that is not whole is left to what follows.
 * @param {OpenModel} model @param {Kept[]} kept
 */
export function begunOf(model, kept) {
  if (!kept.length) return { ids: [], text: '' };
  const ids = kept.map(({ token }) => token);
  const stream = model.tokenizer.stream(true);
  return { ids, text: ids.map((token) => stream.push(token)).join('') };
}

/**
 * All of a reply but a token that ends it, if that is what the chat has of it: a stop text is none of what a reply
 * says, but of its tokens.
 * @param {OpenModel} model @param {Answered} answered @param {string} text @returns {Kept[] | null}
 */
function wholeOf({ tokenizer, manifest }, { log }, text) {
  const kept = [...log.kept];
  while (kept.length && manifest.eosTokenIds.includes(kept[kept.length - 1].token)) kept.pop();
  return kept.length && tokenizer.decode(kept.map(({ token }) => token)) === text ? kept : null;
}

/**
 * @param {import('../chat/session.js').ChatSession} chat @param {number[]} prompt @param {string} text
 * @returns {Kept[]}
 */
function spelled(chat, prompt, text) {
  const ids = chat.following(prompt, text);
  if (!ids.length) throw new NothingToContinue('the reply has no text');
  return ids.map((token) => ({ token, state: null }));
}

/**
 * @param {OpenModel} model @param {Answered | null} answered @param {Begun} begun
 * @returns {{kept: Kept[], after: number[]}}
 */
function branched(model, answered, { at = -1, token = -1 }) {
  if (answered === null) {
    throw new NothingToContinue(
      'the tokens of this reply are not known any more, or the chat was changed since; ask for another reply first',
    );
  }
  const { kept } = answered.log;
  if (!Number.isInteger(at) || at < 0 || at >= kept.length) {
    throw new BranchInvalid(`the reply has the tokens 0 to ${kept.length - 1}, and no ${at}`);
  }
  const { rows } = model.ends.head;
  if (!Number.isInteger(token) || token < 0 || token >= rows) {
    throw new BranchInvalid(`the model has the tokens 0 to ${rows - 1}, and no ${token}`);
  }
  const after = kept.slice(at + 1).map((each) => each.token);
  return { kept: [...kept.slice(0, at), { token, state: kept[at].state }], after };
}
