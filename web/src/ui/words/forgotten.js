import { counted, number } from './format.js';
import { t } from './languages/words.js';

/**
 * What became of what the server kept of a chat.
 * @param {import('../../session/forgetting.js').Forgotten} done
 */
export function forgottenWords({ positions, left, earlier }) {
  const what = deleted(positions, left);
  return earlier ? what : t('{what}; what earlier sessions left could not be asked for', { what });
}

/** @param {number} positions @param {number} left */
function deleted(positions, left) {
  if (!positions) return t('The server keeps nothing of this chat that was found');
  if (left >= positions) {
    return t('The server still has {tokens} of it: other chats go on from them', { tokens: counted(left, 'token') });
  }
  const tokens = counted(positions - left, 'token');
  if (!left) return t('The server deleted {tokens} of this chat', { tokens });
  return t('The server deleted {tokens} of this chat; {n} stay, because other chats begin with them', {
    tokens, n: number(left),
  });
}
