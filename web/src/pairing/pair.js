/** Trading a one-time code for a token of this browser, and asking whether a token still counts. */
import { wholeBody } from '../common/asking.js';
import { AppError, ServerUnreachable } from '../common/errors.js';
import { PairingFailed, PairingRefused } from './errors.js';
import { isToken } from './token.js';

export { readLink, takeLink } from './link.js';
export { forgetToken, isToken, loadToken, storeToken } from './token.js';

const SECONDS = 15;
const MAX_ANSWER = 64 * 1024;
const MAX_TEXT = 200;
const CONTROL = /\p{Cc}/gu;

/** @typedef {{token: string, id: string, name: string}} Paired `name`: what the server calls this device */

/**
 * Trades `code` for a token; the code is used up. Codes: that of the server (`pairing_refused`,
 * `pairing_busy`, ...), pairing_failed, server_unreachable.
 * @param {{code: string, name: string}} asked
 * @param {typeof fetch} [request]
 * @returns {Promise<Paired>}
 * @throws {PairingRefused|PairingFailed|ServerUnreachable}
 */
export async function redeem({ code, name }, request = fetch) {
  const { status, body } = await answerOf(request, '/api/v1/pair', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: code.trim(), name: name.trim().slice(0, MAX_TEXT) }),
  });
  if (status !== 200) throw refusal(status, body);
  const { token, id, name: called } = /** @type {Record<string, unknown>} */ (body ?? {});
  if (typeof token !== 'string' || !isToken(token) || typeof id !== 'string' || typeof called !== 'string') {
    throw new PairingFailed("the server's answer is not one to a pairing");
  }
  return { token, id, name: called };
}

/**
 * Whether the server lets `token` in.
 * @param {string} token
 * @param {typeof fetch} [request]
 * @returns {Promise<boolean>}
 * @throws {PairingFailed|ServerUnreachable} it is not known
 */
export async function isAccepted(token, request = fetch) {
  const { status } = await answerOf(request, '/weights/manifest.json', {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${token}` },
  });
  if (status === 401) return false;
  if (status >= 200 && status < 300) return true;
  throw new PairingFailed(`the server answers with status ${status}`);
}

/**
 * @param {typeof fetch} request @param {string} path @param {RequestInit} options
 * @returns {Promise<{status: number, body: unknown}>} body: null where it is no JSON
 */
async function answerOf(request, path, options) {
  try {
    const answer = await request(path, {
      ...options,
      cache: 'no-store',
      credentials: 'omit',
      // The code or the token would travel along.
      redirect: 'error',
      signal: AbortSignal.timeout(1000 * SECONDS),
    });
    return { status: answer.status, body: parsed(await wholeBody(answer, MAX_ANSWER)) };
  } catch (error) {
    throw error instanceof AppError ? error : new ServerUnreachable(error);
  }
}

/** @param {Uint8Array} bytes @returns {unknown} */
function parsed(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** @param {number} status @param {unknown} body @returns {PairingRefused|PairingFailed} */
function refusal(status, body) {
  const error = /** @type {{error?: Record<string, unknown>}|null} */ (body)?.error;
  const code = error?.code;
  // A server without pairing has no such resource, or asks for a token before it says so.
  if (typeof code !== 'string' || ['not_found', 'method_not_allowed', 'unauthorized'].includes(code)) {
    return new PairingFailed(`this server pairs no devices (status ${status}); give it a token below`);
  }
  const message = typeof error?.message === 'string' ? error.message : '';
  return new PairingRefused(code, message.slice(0, 1000).replace(CONTROL, ' '), {
    retryable: error?.retryable === true,
  });
}
