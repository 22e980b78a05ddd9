import { NotReady } from '../errors.js';
import { ChatSession } from './session.js';

/** @typedef {import('../../session/forgetting.js').Forgotten} Forgotten */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */

/**
 * Has the server delete what it keeps of a chat, whether it has a session here or is only known by its texts.
 * @param {import('./open_chats.js').OpenChats} chats
 * @param {{chat: string, said: Message[][]}} which `said`: the chat up to each of its replies; none where its rows
 *   must not be named, as of a chat that was sent with noise
 * @param {import('../models/model.js').OpenModel | null} model null: not opened, so that no row is known
 * @param {() => import('../../transport/channel.js').Channel} channel
 * @param {import('./session.js').Keeping} keeping
 * @returns {Promise<Forgotten>}
 */
export async function forgetChat(chats, { chat, said }, model, channel, keeping) {
  const open = chats.get(chat);
  // One of which nothing is kept is asked for as it was before that was wished.
  if (open && open.cache !== 'off') return open.forget(said);
  if (!said.length) return { positions: 0, left: 0, earlier: false };
  if (model === null) throw new NotReady('download the model');
  const session = new ChatSession(model, channel(), null, keeping, chats.likely);
  return session.forget(said);
}
