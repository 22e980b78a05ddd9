// Refusals that are no frames: JSON over HTTP, and the reason of a closed WebSocket.
import { isCode, readRefusal as errorIn } from '../common/stranger.js';
import { ConnectionLost, DeviceRevoked, ModelChanged, ServerRefused } from './errors.js';

const RETRYABLE = new Set(['too_many_sessions', 'cache_full', 'overloaded', 'shutting_down']);

/**
 * The error in `{"error": {"code", "message", "retryable"}}`.
 * @param {Uint8Array} body
 * @param {string | null} retryAfter the header, seconds
 * @returns {ServerRefused | null} null: none, as in somebody else's page
 */
export function readRefusal(body, retryAfter) {
  const told = errorIn(body);
  if (told === null) return null;
  const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : null;
  return refusal(told.code, told.message, told.retryable, seconds);
}

/**
 * The error of a server's own code.
 * @param {string} code @param {string} message @param {boolean} retryable
 * @param {number | null} retryAfter seconds
 * @returns {ServerRefused}
 */
export function refusal(code, message, retryable, retryAfter) {
  if (code === 'model_changed') return new ModelChanged();
  return new ServerRefused(code, message, { retryable, retryAfter });
}

/**
 * What the close of a WebSocket means (docs/protocol.md, "Close codes").
 * @param {number} code
 * @param {string} reason
 * @returns {ServerRefused | ConnectionLost}
 */
export function closeError(code, reason) {
  if (code === 1009) {
    const message = 'the frame is larger than the server accepts; send fewer rows';
    return new ServerRefused('frame_too_large', message);
  }
  if (code !== 1008) return new ConnectionLost(`closed with code ${code}`);
  if (reason === 'revoked') return new DeviceRevoked();
  const named = isCode(reason) ? reason : 'policy_violation';
  return new ServerRefused(named, `the server hung up: ${named}`, { retryable: RETRYABLE.has(named) });
}
