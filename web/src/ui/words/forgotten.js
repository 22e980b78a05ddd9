import { counted } from './format.js';

/**
 * What became of what the server kept of a chat.
 * @param {import('../../session/forgetting.js').Forgotten} done
 */
export function forgottenWords({ positions, left, earlier }) {
  const rest = earlier ? '' : '; what earlier sessions left could not be asked for';
  return deleted(positions, left) + rest;
}

/** @param {number} positions @param {number} left */
function deleted(positions, left) {
  if (!positions) return 'The server keeps nothing of this chat that was found';
  if (left >= positions) return `The server still has ${counted(left, 'token')} of it: other chats go on from them`;
  const gone = `The server deleted ${counted(positions - left, 'token')} of this chat`;
  return left ? `${gone}; ${left.toLocaleString('en')} stay, because other chats begin with them` : gone;
}
