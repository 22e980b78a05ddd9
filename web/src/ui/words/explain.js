// Codes and states in words that say what happened and what to do.

/** @typedef {import('../machine/phase.js').Phase} Phase */

export const ELSEWHERE = 'The reply is being written in another tab.';

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
      return 'Ended at one of your stop texts.';
    case 'length':
      return 'Cut at the longest reply that the settings allow.';
    case 'context':
      return 'Cut: the model’s context is full. Start a new chat, or edit an earlier message.';
    case 'cancelled':
      return 'Stopped by you.';
    case 'interrupted':
      return 'Broke off: the page was closed while this was written.';
    default:
      return message ? `Broke off: ${message}` : `Broke off (${reason}).`;
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
      return 'Connecting to the server…';
    case 'needs_token':
      return 'This browser is not paired with the server yet.';
    case 'needs_download':
      return 'The model’s ends are not on this device yet.';
    case 'downloading':
      return 'The model’s ends are still on their way.';
    case 'preparing':
      return 'The model is being prepared…';
    case 'offline':
      return 'The server cannot be reached. Saved chats can be read.';
    case 'failed':
      return 'Something is in the way; see above.';
  }
}

/** @type {Record<string, string>} */
const WAITING = {
  opening: 'Waiting for a place on the server',
  too_many_sessions: 'All places on the server are taken. Waiting for one',
  cache_full: 'The server’s memory is full. Waiting for room',
};

/**
 * @param {import('../../engine/messages.js').Notice} notice
 * @returns {string | null} null: nothing that needs words
 */
export function whatHappened(notice) {
  if (notice.type === 'reconnecting') {
    const wait = notice.delay >= 1 ? `; next try in ${Math.round(notice.delay)} s` : '';
    return `Connection lost (${notice.reason}). Reconnecting, try ${notice.attempt}${wait}.`;
  }
  if (notice.type === 'calibrating') {
    const percent = Math.floor(100 * notice.done);
    return notice.done < 1 ? `Looking at the model’s table for its noise, once: ${percent}%` : null;
  }
  if (notice.type === 'waiting') {
    const next = notice.delay >= 1 ? `; next try in ${Math.round(notice.delay)} s` : '';
    return `${WAITING[notice.code] ?? 'The server is busy. Waiting for it'}${next}.`;
  }
  return notice.type === 'resent' ? 'The server had lost this chat’s cache; it was sent again.' : null;
}

/**
 * @param {import('../machine/phase.js').Problem | null} problem
 * @param {boolean} [known] whether this browser has a token
 * @returns {string}
 */
export function whyPairing(problem, known = false) {
  if (problem?.code === 'device_revoked') {
    return 'The server’s owner took back this browser’s access. Pair it again to go on.';
  }
  if (known) {
    return 'The server does not accept the token that this browser has. Enter another one, or pair again.';
  }
  return 'This server answers only devices that it knows.';
}

/** @param {string} text the message of an error @returns {string} as it stands by itself */
export function sentence(text) {
  return text && text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? '' : '.');
}
