/** A chat's redaction in its document, as the terminal writes and reads it (split_client.redaction.document). */
import { isRedaction } from '../../settings/redaction_check.js';
import { ConversationFileInvalid } from '../errors.js';
import { isRecord } from '../plain.js';
import { newSecret } from './begun.js';

/** @typedef {import('../types').Chat} Chat */
/** @typedef {import('../types').Redaction} Redaction */

const VERSION = 1;

/** @param {Chat} chat @returns {Record<string, unknown> | null} null: it has none */
export function redactionDocument({ redaction, nodes }) {
  if (!redaction) return null;
  const { on, secret, groups, regions, names, entries } = redaction;
  return {
    version: VERSION,
    on,
    secret,
    kinds: groups,
    regions,
    names,
    entries: entries.map(({ kind, key, value, surrogate, rule }) => [kind, key, value, surrogate, rule]),
    // What the model wrote, by what is shown of it.
    replies: Object.values(nodes).flatMap(({ content, sent }) => (sent === undefined ? [] : [[content, sent]])),
  };
}

/**
 * What of a document's redaction counts here: what is to be redacted. Whoever wrote a file knows its secret, and could have
 * put anything into its map, so that the chat begins another one: its messages are all there, with their values.
 * @param {unknown} value @returns {Redaction | null} null: there is none; throws ConversationFileInvalid
 */
export function importedRedaction(value) {
  if (value === undefined || value === null) return null;
  const given = isRecord(value) ? value : {};
  const choice = { on: given.on, groups: given.kinds, names: given.names, regions: given.regions };
  // What is not understood is not left out: the chat would be sent as it is.
  if (given.version !== VERSION || !isRedaction(choice)) {
    throw new ConversationFileInvalid("'redaction' is not as it should be; reload the page to update it");
  }
  const { on, groups, names, regions } = choice;
  return { on, groups: [...groups], names: [...names], regions: [...regions], secret: newSecret(), entries: [], before: 0 };
}
