// The post-processor, which surrounds a text's ids when special tokens are asked for.
import { flatten, invalid, isRecord } from './component.js';

/** @typedef {(ids: number[]) => number[]} PostProcessor */

const ROOM = 'post_processor';

/**
 * @param {unknown} value as in tokenizer.json
 * @returns {PostProcessor}
 * @throws {import('../errors.js').TokenizerInvalid}
 */
export function readPostProcessor(value) {
  const parts = flatten(value, ROOM, 'processors');
  // ByteLevel changes offsets alone.
  const templates = parts.filter((part) => part.type !== 'ByteLevel');
  if (templates.length === 0) return (ids) => ids;
  const [template] = templates;
  if (templates.length > 1 || template.type !== 'TemplateProcessing')
    throw invalid(ROOM, templates.at(-1)?.type ?? '');
  return templateProcessing(template);
}

/** @param {import('./component.js').Component} part @returns {PostProcessor} */
function templateProcessing(part) {
  const { single, special_tokens: special } = part;
  if (!Array.isArray(single) || !isRecord(special)) throw invalid(ROOM, 'TemplateProcessing');
  const items = single.map((item) => itemOf(item, special));
  return (ids) => items.flatMap((item) => item ?? ids);
}

/**
 * @param {unknown} item
 * @param {Record<string, unknown>} special
 * @returns {number[] | null} null: the text
 */
function itemOf(item, special) {
  if (isRecord(item) && isRecord(item.Sequence) && item.Sequence.id === 'A') return null;
  const name = isRecord(item) && isRecord(item.SpecialToken) ? item.SpecialToken.id : null;
  const token = typeof name === 'string' && Object.hasOwn(special, name) ? special[name] : null;
  const ids = isRecord(token) ? token.ids : null;
  if (!Array.isArray(ids) || !ids.every((id) => Number.isInteger(id) && id >= 0)) {
    throw invalid(ROOM, 'TemplateProcessing');
  }
  return ids;
}
