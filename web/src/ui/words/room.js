// How full a context is, and what leaving something out frees and costs, in words.
import { counted, number } from './format.js';
import { t, tn } from './languages/words.js';

/** @typedef {import('../../engine/messages.js').Proposal} Proposal */
/** @typedef {import('../../engine/messages.js').Fill} Fill */
/** @typedef {import('../../chats/types').ContextChoice} ContextChoice */
/**
 * @template T
 * @typedef {import('./sampling.js').Read<T>} Read
 */

const LEAST = 64;
const MOST = 2 ** 31;

/** @returns {readonly (readonly [ContextChoice['policy'], string, string])[]} each with its name and what it does */
export function policyWords() {
  const dimmest = t('What replies looked at least goes first; without attention that is the oldest.');
  return [
    ['ask', t('Ask'), t('The oldest parts are proposed, with what that frees and costs.')],
    ['oldest', t('Leave out the oldest'), t('The oldest parts go, to about three quarters of the budget.')],
    ['dimmest', t('Leave out the dimmest'), dimmest],
    ['pinned', t('Keep what is pinned'), t('Everything goes that is not pinned.')],
  ];
}

/**
 * @param {Fill | null} fill @param {number} more tokens that are being written
 * @param {number} budget @param {boolean} least whether those are at least so many
 * @returns {{short: string, long: string}} short: where there is little room
 */
export function meterWords(fill, more, budget, least = false) {
  const about = fill && !fill.exact ? '≈' : '';
  const total = `${about}${number(fill?.total ?? 0)}`;
  const sum = `${about}${least ? '≥' : ''}${number((fill?.total ?? 0) + more)}`;
  const added = more ? ` + ${least ? '≥' : ''}${number(more)}` : '';
  return { short: `${sum} / ${number(budget)}`, long: t('{at} of {all}', { at: `${total}${added}`, all: number(budget) }) };
}

/** What was dropped. @param {Proposal} proposal */
export function leftOutWords({ units, before, tokens, sent }) {
  return t('{parts} left out, {tokens} freed; {again}', {
    parts: counted(units, 'part'), tokens: counted(before - tokens, 'token'), again: sentAgain(sent),
  });
}

/** What is proposed. @param {Proposal} proposal @param {boolean} noised */
export function proposalWords({ units, before, tokens, sent }, noised) {
  const values = { n: number(units), tokens: counted(before - tokens, 'token'), again: sentAgain(sent) };
  const what = units === 1
    ? t('Leaving the oldest part out frees {tokens}; {again}.', values)
    : t('Leaving the oldest {n} parts out frees {tokens}; {again}.', values);
  return what + charged(sent, noised);
}

/** What the next message costs of the chat as it is. @param {Fill} fill @param {boolean} noised */
export function againWords({ again }, noised) {
  const what = tn(
    again, 'Of the chat, {n} token travels with the next message.',
    'Of the chat, {n} tokens travel with the next message.',
  );
  return what + charged(again, noised);
}

/** @param {number} sent tokens @param {boolean} noised */
function charged(sent, noised) {
  if (!noised || !sent) return '';
  return ` ${tn(sent, 'With noise up to {n} row is charged anew.', 'With noise up to {n} rows are charged anew.')}`;
}

/** @param {string} text @returns {Read<number | null>} null: as many as the model has */
export function readBudget(text) {
  const plain = text.trim().replaceAll(/[ ,_]/g, '');
  if (!plain) return { value: null };
  const tokens = Number(plain);
  const fits = /^\d+$/.test(plain) && tokens >= LEAST && tokens <= MOST;
  if (fits) return { value: tokens };
  return { problem: t('A whole number of tokens, at least {least}; empty: all that the model has.', { least: LEAST }) };
}

/** @param {number} sent */
function sentAgain(sent) {
  return tn(sent, '{n} token is sent again', '{n} tokens are sent again');
}
