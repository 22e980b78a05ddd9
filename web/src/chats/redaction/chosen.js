import { begunRedaction } from './begun.js';

/** @typedef {import('../types').Redaction} Redaction */
/** @typedef {import('../../../types/gatelink').RedactionChoice} RedactionChoice */

/**
 * A chat's redaction after another choice: what its map knows stays, and what has gone out as it is by now is counted.
 * @param {import('../types').Chat} chat @param {RedactionChoice} choice @returns {Redaction | null}
 */
export function redactionAs({ redaction, nodes }, { on, groups, names, regions }) {
  const before = Object.keys(nodes).length;
  if (!redaction) return begunRedaction({ on, groups, names, regions }, before);
  const gone = on && !redaction.on ? { before } : {};
  return { ...redaction, on, groups, names, regions, ...gone };
}
