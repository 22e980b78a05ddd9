// Whether a prompt leaves room for its reply, in the budget that its chat has.
import { ContextFull } from '../errors.js';

/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */

// Room for a reply that is made before it is asked for.
const MOST_RESERVED = 8;

/**
 * @param {number} prompt tokens @param {number} limit tokens that the session may hold
 * @param {Pick<ReplyRequest, 'context' | 'maxTokens' | 'mode'>} request one without `context` may use all there is
 * @throws {ContextFull}
 */
export function requireRoom(prompt, limit, { context, maxTokens, mode }) {
  if (!context || mode === 'plain') return;
  const budget = Math.min(context.budget ?? Infinity, limit);
  const room = context.reserve ? Math.max(1, Math.min(maxTokens, Math.floor(budget / MOST_RESERVED))) : 0;
  if (prompt + room > budget) throw new ContextFull(prompt, budget);
}
