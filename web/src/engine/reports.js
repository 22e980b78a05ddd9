// Reports to the page on a server, and on what has travelled.

/** @typedef {import('../../types/gatelink.d.ts').Manifest} Manifest */
/** @typedef {import('./messages.js').Connected} Connected */

/** @param {Manifest} manifest @returns {Connected['manifest']} */
export function manifestTold(manifest) {
  const { digest, name, family, licence, maxContext, generation, size, chatTemplate, numLayers } = manifest;
  const own = { hasTemplate: chatTemplate !== null, layers: numLayers };
  return { digest, name, family, licence, maxContext, generation, size, ...own };
}

/**
 * @param {import('../transport/channel.js').Channel | null} channel
 * @param {import('./chat/session.js').ChatSession | undefined} newest of the open chats
 * @param {import('./models/model.js').OpenModel | null} model
 * @returns {Omit<import('./messages.js').Stats, 'hosts'>}
 */
export function statsTold(channel, newest, model) {
  const traffic = channel?.traffic;
  return {
    bytesUp: traffic?.sent ?? 0,
    bytesDown: traffic?.received ?? 0,
    exchanges: traffic?.exchanges ?? 0,
    transport: channel?.transportName ?? null,
    reconnects: channel?.reconnects ?? 0,
    cachedTokens: newest?.sequence.cached ?? 0,
    dtype: newest?.dtype ?? null,
    kernel: model?.ends.kernel ?? null,
  };
}
