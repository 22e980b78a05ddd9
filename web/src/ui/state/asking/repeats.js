/** Whether a reply that is asked for again would come out as it did, or fail as it did. */
import { turnedBack } from '../../../chats/context/changes.js';
import { kept } from '../../../chats/tree.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').ChatNode} ChatNode */
/** @typedef {import('../replies.js').Wishes} Wishes */
/** @typedef {Record<string, number> | undefined} Recommended of the model's manifest */

const VARIED = 0.8;
// A reply that was stopped or broke off goes further the next time.
const WHOLE = new Set(['eos', 'stop', 'length']);
// The same request would meet the same refusal.
const FINAL = new Set([
  'budget_exhausted', 'context_overflow', 'form_endless', 'form_impossible', 'form_invalid', 'form_too_costly',
  'form_unwritable', 'invalid_sampling_parameter', 'invalid_schema', 'ledger_damaged', 'noise_dtype_changed',
  'noise_forbids', 'noise_overflows', 'noise_setting_invalid', 'nothing_allowed', 'prompt_too_long',
  'template_failed', 'template_missing', 'template_too_costly', 'text_refused', 'text_too_costly', 'unknown_adapter',
]);

/** All that a reply to the same messages depends on. @param {Chat} chat that ends with what is answered
 * @param {Wishes} wishes @returns {string} */
export function circumstances(chat, { params, maxTokens, stop }) {
  const { model, system, adapter, noise, form, redaction } = chat;
  const sampling = Object.entries(params).map(([name, value]) => [name, String(JSON.stringify(plain(value)))]);
  const asked = [model, system, adapter, noise ?? null, sampling, maxTokens, stop];
  const dropped = kept(chat).map((message) => message.dropped ?? null);
  const less = dropped.some(Boolean) ? [{ dropped, budget: chat.context?.budget ?? null }] : [];
  const { on, groups, names, regions } = redaction ?? { on: false };
  return JSON.stringify([...asked, ...(form ? [form] : []), ...(on ? [{ groups, names, regions }] : []), ...less]);
}

/** Circumstances in a few letters (FNV-1a, 32 bits), as a reply keeps them. @param {string} text */
export function mark(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16);
}

/**
 * Whether another reply would be the same, as the likeliest token is always taken.
 * @param {ChatNode} node a reply of `chat` @param {Chat} chat @param {Wishes} wishes @param {Recommended} recommended
 */
export function isSame(node, chat, wishes, recommended) {
  if (chat.noise?.on || !WHOLE.has(node.reason ?? '') || !isGreedy(wishes.params, recommended)) return false;
  return node.stats?.made === mark(circumstances(turnedBack(chat, node.parent), wishes));
}

/** The same wishes, drawn. @param {Wishes} wishes @param {Recommended} recommended @returns {Wishes} */
export function varied(wishes, recommended) {
  const { seed: _, ...params } = wishes.params;
  if (!isGreedy(params, recommended)) return { ...wishes, params };
  const topK = (params.top_k ?? recommended?.top_k) === 1 ? { top_k: 0 } : {};
  return { ...wishes, params: { ...params, ...topK, temperature: params.temperature || VARIED } };
}

/** Whether what failed so would fail again. @param {import('../replies.js').Missing} failure @param {string} now circumstances */
export function isFinal(failure, now) {
  return FINAL.has(failure.code) && failure.asked === now;
}

/** @param {Record<string, any>} params @param {Recommended} recommended */
function isGreedy(params, recommended) {
  return (params.temperature ?? recommended?.temperature ?? 0) === 0 || (params.top_k ?? recommended?.top_k) === 1;
}

/** @param {unknown} value */
function plain(value) {
  return typeof value === 'bigint' ? String(value) : value;
}
