// A step as it travels.
import { encodeMessage } from '../messages.js';

/** @typedef {import('../messages.js').Opened} Opened */
/** @typedef {import('../messages.js').Step} Step */

/**
 * A step, and its frame.
 * @param {Opened} opened @param {Omit<Step, 'type' | 'session'>} fields
 */
export function stepFrame({ session }, fields) {
  /** @type {Step} */
  const message = { type: 'step', session, ...fields };
  return { message, frame: encodeMessage(message) };
}
