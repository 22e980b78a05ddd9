// Frames over HTTP: one POST per exchange. The fallback where WebSockets do not get through.
import { wholeBody } from '../common/asking.js';
import { AppError } from '../common/errors.js';
import { CONTENT_TYPE } from '../protocol/messages.js';
import { isFrame } from '../protocol/frame.js';
import { authorization } from './bearer.js';
import { AnswerLate, Cancelled, ConnectionLost, NotASplitServer, ServerRefused, ServerUnreachable } from './errors.js';
import { readRefusal } from './refusal.js';
import { routed } from './routing.js';
import { after as realAfter } from './timer.js';
import { baseUrl } from './transport.js';

const PATH = '/api/v1/split/forward';
const STATUS_OF_A_PROXY = [502, 503, 504];

/** @typedef {import('./transport.js').Transport} Transport */

/** @implements {Transport} */
export class HttpTransport {
  /**
   * @param {{url: string, token: string | null, maxFrame: number, route?: import('./routing.js').Route | null, fetch?: typeof globalThis.fetch,
   *   after?: import('./timer.js').After}} options
   * @throws {import('./errors.js').TokenInvalid}
   */
  constructor({ url, token, maxFrame, route = null, fetch = globalThis.fetch, after = realAfter }) {
    this._url = routed(baseUrl(url) + PATH, route);
    this._headers = { 'Content-Type': CONTENT_TYPE, ...authorization(token) };
    this._maxFrame = maxFrame;
    // Called as a method of this object it would refuse to run.
    this._fetch = fetch.bind(globalThis);
    this._after = after;
    this._answered = false;
    /** @type {'http'} */
    this.name = 'http';
    this.open = true;
    /** @type {Error | null} */
    this.end = null;
  }

  /** @param {number} maxFrame */
  accept(maxFrame) {
    this._maxFrame = maxFrame;
  }

  close() {
    this.open = false;
  }

  /**
   * @param {Uint8Array} frame
   * @param {{timeout: number, signal: AbortSignal}} options
   * @returns {Promise<Uint8Array>}
   */
  async exchange(frame, { timeout, signal }) {
    if (signal.aborted) throw new Cancelled();
    const ending = new AbortController();
    const cancel = () => ending.abort(new Cancelled());
    signal.addEventListener('abort', cancel, { once: true });
    const callOff = this._after(timeout, () => ending.abort(new AnswerLate()));
    try {
      const { response, body } = await this._post(frame, ending.signal);
      this._answered = true;
      // A refused frame is answered by a frame too, whatever the status.
      if (isFrame(body)) return body;
      throw refused(response, body);
    } finally {
      callOff();
      signal.removeEventListener('abort', cancel);
    }
  }

  /** @param {Uint8Array} frame @param {AbortSignal} signal */
  async _post(frame, signal) {
    try {
      const response = await this._fetch(this._url, {
        method: 'POST',
        headers: this._headers,
        body: /** @type {Uint8Array<ArrayBuffer>} */ (frame),
        signal,
        cache: 'no-store',
        credentials: 'omit',
        // The token would travel along.
        redirect: 'error',
      });
      return { response, body: await wholeBody(response, this._maxFrame) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof AppError) throw new ServerRefused(error.code, error.message);
      const reason = 'the request failed';
      throw this._answered ? new ConnectionLost(reason, error) : new ServerUnreachable(reason, error);
    }
  }
}

/** @param {Response} response @param {Uint8Array} body */
function refused(response, body) {
  const told = readRefusal(body, response.headers.get('Retry-After'));
  if (told !== null) return told;
  if (STATUS_OF_A_PROXY.includes(response.status)) {
    return new ConnectionLost(`HTTP status ${response.status} from something in between`);
  }
  return new NotASplitServer(response.status);
}
