// Requests to an adapter host: sent again after a lost connection, waited for while it is full.
//
// Sending the same bytes twice is safe: the host answers a query's number once and from memory after that.
import { wholeBody } from '../common/asking.js';
import { AppError } from '../common/errors.js';
import { authorization } from '../transport/bearer.js';
import { AnswerLate, Cancelled, ConnectionLost, ServerRefused, Undelivered } from '../transport/errors.js';
import { PATIENCE, delayOf } from '../transport/patience.js';
import { readRefusal } from '../transport/refusal.js';
import { NEVER, linked } from '../transport/signals.js';
import { after as realAfter, pause as realPause } from '../transport/timer.js';
import { AdapterHostInvalid, AdapterHostRefused, AdapterHostUnreachable } from './errors.js';

export const PATH = '/api/v1/adapters';
const REFUSAL_BYTES = 64 * 1024;
const GOOD = [200, 204];
const OF_A_PROXY = [502, 503, 504];
// Seconds. A reply waits meanwhile: shorter than for the server, which loses a whole conversation.
const EXCHANGE = 20;
const TOTAL = 15;
const OCTETS = { 'Content-Type': 'application/octet-stream' };

/**
 * @typedef {object} Means
 * @property {typeof globalThis.fetch} [fetch]
 * @property {() => number} [clock] seconds
 * @property {(seconds: number, signal: AbortSignal) => Promise<void>} [pause]
 * @property {() => number} [chance]
 * @property {import('../transport/timer.js').After} [after]
 */

export class HostLink {
  /** @param {string} host its origin @param {string | null} token @param {Means} [means] */
  constructor(host, token, means = {}) {
    const { fetch = globalThis.fetch, clock = seconds, pause = realPause, chance = Math.random, after = realAfter } = means;
    this.host = host;
    this._headers = authorization(token);
    // Called as a method of this object it would refuse to run.
    this._fetch = fetch.bind(globalThis);
    this._clock = clock;
    this._pause = pause;
    this._chance = chance;
    this._after = after;
    /** Bytes of bodies. */
    this.traffic = { sent: 0, received: 0 };
  }

  /**
   * The answer of at most `limit` bytes to a path below the adapters.
   * @param {'GET' | 'POST'} method @param {string} path @param {number} limit
   * @param {{body?: Uint8Array<ArrayBuffer>, signal?: AbortSignal}} [options]
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {AdapterHostUnreachable | AdapterHostRefused | AdapterHostInvalid | Cancelled}
   */
  async ask(method, path, limit, { body, signal = NEVER } = {}) {
    /** @type {number | null} */
    let deadline = null;
    for (let attempt = 0; ; attempt++) {
      const asked = { method, path, limit, body, signal };
      const left = deadline === null ? EXCHANGE : Math.min(EXCHANGE, deadline - this._clock());
      const { answer, error, least } = await this._tried(asked, left);
      if (answer) return answer;
      deadline ??= this._clock() + TOTAL;
      const delay = Math.max(least, delayOf(PATIENCE, attempt, this._chance()));
      if (this._clock() + delay >= deadline) throw error;
      await this._pause(delay, signal);
    }
  }

  /**
   * @param {Asked} asked @param {number} left seconds
   * @returns {Promise<{answer?: Uint8Array<ArrayBuffer>, error?: AppError, least: number}>} `error`: worth another try,
   *   after `least` seconds
   */
  async _tried(asked, left) {
    try {
      return { answer: await this._once(asked, left), least: 0 };
    } catch (error) {
      if (error instanceof Undelivered) {
        return { error: new AdapterHostUnreachable(this.host, error.reason, error), least: 0 };
      }
      if (!(error instanceof ServerRefused)) throw error;
      const refused = new AdapterHostRefused(error.code, error.message);
      if (!error.retryable) throw refused;
      return { error: refused, least: error.retryAfter ?? 0 };
    }
  }

  /** @param {Asked} asked @param {number} left seconds */
  async _once({ method, path, limit, body, signal }, left) {
    const { signal: ending, abort, release } = linked([signal]);
    let late = false;
    const callOff = this._after(left, () => {
      late = true;
      abort();
    });
    try {
      const { response, answer } = await this._exchanged(method, path, Math.max(limit, REFUSAL_BYTES), body, ending);
      if (!GOOD.includes(response.status)) throw refusalOf(response, answer);
      if (answer.length > limit) throw new AdapterHostInvalid(`it is longer than ${limit} bytes`);
      this.traffic.sent += body?.length ?? 0;
      this.traffic.received += answer.length;
      return answer;
    } catch (error) {
      if (error instanceof AppError) throw error;
      if (signal.aborted) throw new Cancelled();
      throw late ? new AnswerLate() : new ConnectionLost(whyNothing(this.host), error);
    } finally {
      callOff();
      release();
    }
  }

  /**
   * @param {string} method @param {string} path @param {number} limit @param {Uint8Array<ArrayBuffer> | undefined} body
   * @param {AbortSignal} signal
   */
  async _exchanged(method, path, limit, body, signal) {
    const response = await this._fetch(this.host + PATH + path, {
      method,
      headers: body ? { ...this._headers, ...OCTETS } : this._headers,
      ...(body && { body }),
      signal,
      cache: 'no-store',
      credentials: 'omit',
      // The token would travel along.
      redirect: 'error',
    });
    try {
      return { response, answer: await wholeBody(response, limit) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AdapterHostInvalid(`it is longer than ${limit} bytes`, error);
    }
  }
}

/**
 * @typedef {{method: 'GET' | 'POST', path: string, limit: number, body: Uint8Array<ArrayBuffer> | undefined,
 *   signal: AbortSignal}} Asked
 */

/** What is known of why the browser hands over no answer. @param {string} host its origin */
function whyNothing(host) {
  const plain = host.startsWith('http:') && globalThis.location?.protocol === 'https:';
  return plain ? 'a page over https may not ask a host over http' : 'the browser hands over no answer';
}

/** @param {Response} response @param {Uint8Array} body @returns {AppError} */
function refusalOf({ status, headers }, body) {
  const told = readRefusal(body, headers.get('Retry-After'));
  if (told !== null) return told;
  if (OF_A_PROXY.includes(status)) return new ConnectionLost(`HTTP status ${status} from something in between`);
  return new AdapterHostInvalid(`HTTP status ${status}: this is no adapter host`);
}

function seconds() {
  return performance.now() / 1000;
}
