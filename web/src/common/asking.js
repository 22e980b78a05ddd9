// Small documents of a server that is not trusted.
import { AppError, ServerUnreachable } from './errors.js';
import { readRefusal } from './stranger.js';

const SECONDS = 20;
const OK = 200;
const UNAUTHORIZED = 401;

/**
 * @typedef {object} Asked
 * @property {string | null} token
 * @property {number} limit bytes of the answer
 * @property {typeof globalThis.fetch} [fetch]
 * @property {number} [seconds] for the whole answer
 */

/**
 * What a server answers to GET.
 * @param {string} url
 * @param {Asked} options
 * @returns {Promise<{status: number, headers: Headers, body: Uint8Array<ArrayBuffer>}>}
 * @throws {ServerUnreachable | AppError} answer_too_large
 */
export async function ask(url, { token, limit, fetch = globalThis.fetch, seconds = SECONDS }) {
  try {
    // As a method of something else it would refuse to run.
    const response = await fetch.call(globalThis, url, {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      cache: 'no-store',
      credentials: 'omit',
      // The token would travel along.
      redirect: 'error',
      signal: AbortSignal.timeout(1000 * seconds),
    });
    const { status, headers } = response;
    return { status, headers, body: await wholeBody(response, limit) };
  } catch (error) {
    throw error instanceof AppError ? error : new ServerUnreachable(error);
  }
}

/**
 * The body of an answer that is expected to be 200.
 * @param {{status: number, body: Uint8Array<ArrayBuffer>}} answer
 * @param {string} [foreign] the code of what is no answer of a split server; http_STATUS else
 * @throws {AppError} what the server refuses with, unauthorized, `foreign`
 */
export function requireOk({ status, body }, foreign = `http_${status}`) {
  if (status === OK) return body;
  const told = readRefusal(body);
  if (told) throw new AppError(told.code, told.message, { retryable: told.retryable });
  if (status === UNAUTHORIZED) throw new AppError('unauthorized', 'the server asks for a token; pair again');
  throw new AppError(foreign, `the server answered ${status}`, { retryable: status >= 500 });
}

/**
 * @param {Response} response
 * @param {number} limit bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 * @throws {AppError} answer_too_large; and what reading throws
 */
export async function wholeBody(response, limit) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > limit) {
      await reader?.cancel();
      throw new AppError('answer_too_large', `the server's answer is longer than ${limit} bytes`);
    }
    parts.push(part.value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
