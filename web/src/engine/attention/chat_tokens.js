// The tokens of a whole chat by the messages to which they belong, and what one of them looked at.
import { Pieces } from '../../text/pieces.js';
import { AttentionNoised } from '../errors.js';
import { requestFor, rowsBytes } from '../../protocol/attention.js';
import { itemSize } from '../../protocol/tensor.js';
import { promptSpans } from './transcript.js';

/** @typedef {import('../messages.js').ChatTokens} ChatTokens */
/** @typedef {import('../messages.js').Heads} Heads */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */

/**
 * The parts of each message that a token of the chat wrote, in order.
 * @param {import('../../text/pieces.js').Tokens} tokenizer
 * @param {number[]} ids of the whole chat @param {Message[]} messages
 * @returns {ChatTokens}
 */
export function chatTokens(tokenizer, ids, messages) {
  const pieces = new Pieces(tokenizer);
  const told = ids.map((id) => pieces.push(id)).concat(pieces.flush());
  const spans = promptSpans(told.filter((piece) => piece !== null), messages).filter(({ message }) => message !== undefined);
  const column = (/** @type {(span: any) => number} */ of) => Int32Array.from(spans, of);
  return {
    positions: ids.length,
    start: column(({ start }) => start),
    stop: column(({ stop }) => stop),
    message: column(({ message }) => message),
    at: column(({ at }) => at),
    length: column(({ text }) => text.length),
  };
}

/**
 * The rows of all heads for the token at a position: a session of its own takes in what stands before it, as far as
 * the server has kept that, and ends.
 * @param {import('../chat/session.js').ChatSession} session that nobody else uses
 * @param {boolean} noised whether the chat has noise, or had it
 * @param {number[]} before the ids before that token @param {AbortSignal} signal
 * @returns {Promise<Heads>}
 * @throws {AttentionNoised | import('../../common/errors.js').AppError} the latter: what the session throws
 */
export async function headsAt(session, noised, before, signal) {
  if (noised) throw new AttentionNoised();
  try {
    const { attention, rows } = await session.sequence.extend(before, { signal, attention: 'heads' });
    if (attention === null || attention instanceof Error) throw attention;
    const { layers, heads, weights } = attention;
    return { layers, heads, weights, sent: rows };
  } finally {
    await session.close();
  }
}

/**
 * Bytes at most that the rows of all heads for the token at a position cost; null: no session has told of the heads yet.
 * @param {import('../../protocol/messages.js').Opened | null} opened
 * @param {number} hiddenSize @param {number} position
 * @returns {{up: number, down: number} | null}
 * @throws {import('../../common/errors.js').AppError} unsupported, attention_too_large
 */
export function headsCost(opened, hiddenSize, position) {
  const request = opened && requestFor(opened, 'heads');
  if (!request) return null;
  return { up: position * hiddenSize * itemSize(opened.dtype), down: rowsBytes(opened, request, position) };
}
