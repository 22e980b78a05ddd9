import { samplingFields } from '../../../settings/settings.js';

/** @typedef {import('../../../settings/types').Settings} Settings */

/**
 * What of the settings a reply is made with, as JSON that is kept in the chat too. What is not set is left
 * to the model's recommendation.
 * @param {Settings} settings
 * @returns {import('../replies.js').Wishes}
 */
export function wishesOf(settings) {
  const fields = samplingFields(settings);
  const params = settings.seed === null ? fields : { ...fields, seed: settings.seed };
  const { max_tokens: maxTokens, stop, server_cache: cache, drafts, draft_memory: draftMemory } = settings;
  return { params: /** @type {Record<string, any>} */ (params), maxTokens, stop, cache, drafts, draftMemory };
}
