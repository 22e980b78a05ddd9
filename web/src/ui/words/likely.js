import { nameOf } from './attention.js';
import { decimal } from './format.js';
import { t } from './languages/words.js';

/** Probabilities below which a token has the next level of surprise. */
export const SURPRISES = [0.5, 0.2, 0.05, 0.01];

/** 0 (expected) to 4. @param {number | null} logprob in nats; null: not known */
export function surpriseOf(logprob) {
  if (logprob === null) return 0;
  return SURPRISES.filter((below) => Math.exp(logprob) < below).length;
}

/** A probability as people read it. @param {number} logprob in nats @returns {string} */
export function chance(logprob) {
  const percent = 100 * Math.exp(logprob);
  if (percent < 0.01) return t('<{n}%', { n: decimal(0.01, 2) });
  return t('{n}%', { n: decimal(percent, percent < 1 ? 2 : 1) });
}

/**
 * What a screen reader is told of a token that is chosen.
 * @param {import('../../engine/messages.js').ReplyToken} token
 * @param {import('../../engine/messages.js').Alternative[] | null} list the likeliest first
 */
export function toldOf({ text, logprob }, list) {
  if (logprob === null || !list) return t('{token}: not kept.', { token: nameOf(text) });
  const first = list.slice(0, 3).map(([, other, p]) => `${nameOf(other)} ${chance(p)}`);
  return t('{token} {chance}. Likeliest: {others}', {
    token: nameOf(text), chance: chance(logprob), others: first.join(', '),
  });
}
