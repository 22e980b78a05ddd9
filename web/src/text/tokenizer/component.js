// Reading parts of a tokenizer file: unknown kinds and options are refused, never skipped.
import { TokenizerInvalid } from '../errors.js';

/** @typedef {Record<string, unknown> & {type: string}} Component */

const MAX_PARTS = 16;

/**
 * A component without `type: Sequence` around it.
 * @param {unknown} value null: none
 * @param {string} room 'normalizer', for messages
 * @param {string} key where a Sequence keeps its parts
 * @returns {Component[]}
 * @throws {TokenizerInvalid}
 */
export function flatten(value, room, key) {
  if (value === null || value === undefined) return [];
  const component = asComponent(value, room);
  if (component.type !== 'Sequence') return [component];
  const parts = component[key];
  if (!Array.isArray(parts) || parts.length > MAX_PARTS) throw invalid(room, 'Sequence');
  return parts.map((part) => {
    const inner = asComponent(part, room);
    if (inner.type === 'Sequence') throw invalid(room, 'Sequence in a Sequence');
    return inner;
  });
}

/** @param {unknown} value @param {string} room @returns {Component} */
export function asComponent(value, room) {
  if (!isRecord(value) || typeof value.type !== 'string') throw invalid(room, 'without a type');
  return /** @type {Component} */ (value);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A text of a component.
 * @param {Component} component @param {string} key @param {string} room
 */
export function textOf(component, key, room) {
  const value = component[key];
  if (typeof value !== 'string' || /\p{Surrogate}/u.test(value))
    throw invalid(room, `${component.type}, ${key}`);
  return value;
}

/**
 * A yes or no of a component.
 * @param {Component} component @param {string} key @param {string} room @param {boolean} [missing]
 */
export function flagOf(component, key, room, missing) {
  const value = component[key] ?? missing;
  if (typeof value !== 'boolean') throw invalid(room, `${component.type}, ${key}`);
  return value;
}

/** @param {string} room @param {string} what */
export function invalid(room, what) {
  return new TokenizerInvalid(`its ${room} (${what.slice(0, 80)}) is not supported here`);
}
