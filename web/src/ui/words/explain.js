// Codes and states in words that say what happened and what to do.
import { t } from './languages/words.js';

/** @typedef {import('../machine/phase.js').Phase} Phase */

/** Of the shown chat, which another tab works on. */
export function elsewhereWords() {
  return t('The reply is being written in another tab.');
}

/**
 * Why a reply ended before its natural end.
 * @param {string | undefined} reason of the reply, or the code of an error
 * @param {string} [message] the error's own words
 * @returns {string | null} null: it ended by itself
 */
export function whyEnded(reason, message) {
  switch (reason) {
    case undefined:
    case null:
    case 'eos':
      return null;
    case 'stop':
      return t('Ended at one of your stop texts.');
    case 'length':
      return t('Cut at the longest reply that the settings allow.');
    case 'context':
      return t('Cut: the context is full. Before the next reply there is made room.');
    case 'cancelled':
      return t('Stopped by you.');
    case 'edited':
      return t('Changed by you.');
    case 'interrupted':
      return t('Broke off: the page was closed while this was written.');
    default:
      return message ? t('Broke off: {why}', { why: message }) : t('Broke off ({reason}).', { reason });
  }
}

/**
 * Why nothing can be sent now.
 * @param {Phase} phase
 * @returns {string | null} null: it can
 */
export function cannotSend(phase) {
  switch (phase.name) {
    case 'ready':
      return null;
    case 'connecting':
      return phase.problem ? t('The server loads the model…') : t('Connecting to the server…');
    case 'needs_token':
      return t('This browser is not paired with the server yet.');
    case 'needs_download':
      return t('The model’s ends are not on this device yet.');
    case 'downloading':
      return t('The model’s ends are still on their way.');
    case 'preparing':
      return t('The model is being prepared…');
    case 'offline':
      return t('The server cannot be reached. Saved chats can be read.');
    case 'failed':
      return t('Something is in the way; see above.');
  }
}

/** @param {string} code */
function whyWaiting(code) {
  switch (code) {
    case 'opening':
      return t('Waiting for a place on the server');
    case 'too_many_sessions':
      return t('All places on the server are taken. Waiting for one');
    case 'model_loading':
      return t('The server loads the model. Waiting for it');
    case 'cache_full':
      return t('The server’s memory is full. Waiting for room');
    default:
      return t('The server is busy. Waiting for it');
  }
}

/**
 * @param {import('../../engine/messages.js').Notice} notice
 * @returns {string | null} null: nothing that needs words
 */
export function whatHappened(notice) {
  if (notice.type === 'reconnecting') {
    const { reason, attempt } = notice;
    const what = t('Connection lost ({reason}). Reconnecting, try {attempt}', { reason, attempt });
    return withWait(what, notice.delay);
  }
  if (notice.type === 'calibrating') {
    const percent = Math.floor(100 * notice.done);
    return notice.done < 1 ? t('Looking at the model’s table for its noise, once: {percent}%', { percent }) : null;
  }
  if (notice.type === 'waiting') return withWait(whyWaiting(notice.code), notice.delay);
  return notice.type === 'resent' ? t('The server had lost this chat’s cache; it was sent again.') : null;
}

/** @param {string} what is waited for @param {number} delay seconds */
function withWait(what, delay) {
  return delay >= 1 ? t('{what}; next try in {n} s.', { what, n: Math.round(delay) }) : `${what}.`;
}

/**
 * @param {import('../machine/phase.js').Problem | null} problem
 * @param {boolean} [known] whether this browser has a token
 * @returns {string}
 */
export function whyPairing(problem, known = false) {
  if (problem?.code === 'device_revoked') {
    return t('The server’s owner took back this browser’s access. Pair it again to go on.');
  }
  if (known) {
    return t('The server does not accept the token that this browser has. Enter another one, or pair again.');
  }
  return t('This server answers only devices that it knows.');
}

/** @param {string} text the message of an error @returns {string} as it stands by itself */
export function sentence(text) {
  return text && text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
}
