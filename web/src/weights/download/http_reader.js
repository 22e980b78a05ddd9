import { AppError } from '../../common/errors.js';
import { readRefusal } from '../../common/stranger.js';
import { ConnectionLost, DownloadFailed, Paused, ServerRefused } from '../errors.js';

const STALL_SECONDS = 30;
const MAX_REFUSAL_BYTES = 64 << 10;
const PART_BYTES = 256 << 10;
const PARTIAL = 206;
const WHOLE = 200;

/**
 * `onReceived` is told how many bytes of the range are here: before any is asked for, then over and over.
 * @typedef {(name: string, first: number, last: number, signal?: AbortSignal,
 *   onReceived?: (bytes: number) => void) => Promise<Uint8Array>} ReadBytes
 */

/**
 * Reads byte ranges of the server's weights over HTTP (docs/protocol.md, Files).
 *
 * The bytes that a read returns lie in one buffer that the next read uses again: one read at a time. `last`
 * is included. A read that brings nothing for `stallSeconds` is given up. What a read that was paused or cut
 * has received is kept: where the next read asks for the same range, only the rest is fetched.
 * @param {{url: string, token: string|null, fetch?: typeof globalThis.fetch, stallSeconds?: number}} options
 * @returns {ReadBytes} throws ConnectionLost (retryable), DownloadFailed, ServerRefused, Paused; AppError
 *   'unauthorized'
 */
export function httpReader({
  url,
  token,
  fetch = (...args) => globalThis.fetch(...args),
  stallSeconds = STALL_SECONDS,
}) {
  const base = `${url.replace(/\/+$/, '')}/weights/`;
  const piece = new Piece();
  return async (name, first, last, signal, onReceived = () => {}) => {
    piece.begin(name, first, last);
    const watch = new Watch(stallSeconds, signal);
    try {
      onReceived(piece.done);
      const headers = {
        Range: `bytes=${first + piece.done}-${last}`,
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
      };
      const response = await fetch(base + name, {
        headers,
        signal: watch.signal,
        cache: 'no-store',
        redirect: 'error',
      });
      watch.progressed();
      await checkAnswer(response, name, piece, last);
      await fill(response, piece, name, (done) => {
        watch.progressed();
        onReceived(done);
      });
      return piece.taken();
    } catch (error) {
      const failed = signal?.aborted ? new Paused() : asLost(error, watch);
      if (!(failed instanceof Paused || failed instanceof ConnectionLost)) piece.drop();
      throw failed;
    } finally {
      watch.end();
    }
  };
}

/** The range that is being read: its bytes, and how many of them are here. */
class Piece {
  #range = '';
  #buffer = new Uint8Array(0);
  done = 0;
  first = 0;
  bytes = this.#buffer;

  /** @param {string} name @param {number} first @param {number} last */
  begin(name, first, last) {
    const range = `${name} ${first} ${last}`;
    if (range === this.#range) return;
    const length = last - first + 1;
    if (this.#buffer.length < length) this.#buffer = new Uint8Array(length);
    this.#range = range;
    this.first = first;
    this.bytes = this.#buffer.subarray(0, length);
    this.done = 0;
  }

  /** What is here is not to be gone on with. */
  drop() {
    this.#range = '';
    this.done = 0;
  }

  /** All of it; it is not kept any longer. */
  taken() {
    this.drop();
    return this.bytes;
  }
}

/** Aborts a request that stalls or that its caller gives up. */
class Watch {
  #controller = new AbortController();
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;

  /** @param {number} seconds @param {AbortSignal} [signal] */
  constructor(seconds, signal) {
    this.milliseconds = 1000 * seconds;
    this.caller = signal;
    this.stalled = false;
    this.giveUp = () => this.#controller.abort();
    if (signal?.aborted) this.giveUp();
    signal?.addEventListener('abort', this.giveUp);
    this.progressed();
  }

  get signal() {
    return this.#controller.signal;
  }

  progressed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.stalled = true;
      this.giveUp();
    }, this.milliseconds);
  }

  /** Also ends a body that nobody reads any more. */
  end() {
    clearTimeout(this.#timer);
    this.caller?.removeEventListener('abort', this.giveUp);
    this.giveUp();
  }
}

/** @param {unknown} error @param {Watch} watch */
function asLost(error, watch) {
  if (error instanceof AppError) return error;
  if (watch.stalled) return new ConnectionLost(`nothing arrived for ${watch.milliseconds / 1000} seconds`);
  return new ConnectionLost('the server cannot be reached or the answer broke off', null, error);
}

/** @param {Response} response @param {string} name @param {Piece} piece @param {number} last */
async function checkAnswer(response, name, piece, last) {
  if (response.status !== PARTIAL && response.status !== WHOLE) throw await refusal(response, name);
  if ((response.headers.get('Content-Encoding') ?? 'identity') !== 'identity') {
    throw new DownloadFailed(name, 'something on the way compresses it');
  }
  if (response.status === WHOLE) {
    const whole = piece.first === 0 && response.headers.get('Content-Length') === String(last + 1);
    if (!whole) throw new DownloadFailed(name, 'something on the way takes byte ranges away');
    piece.done = 0;
    return;
  }
  const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('Content-Range') ?? '');
  if (!range || Number(range[1]) !== piece.first + piece.done || Number(range[2]) !== last) {
    throw new DownloadFailed(name, 'the server answered with another range');
  }
}

/**
 * The body into what is missing of the piece, to its exact length.
 * @param {Response} response @param {Piece} piece @param {string} name @param {(done: number) => void} onReceived
 */
async function fill(response, piece, name, onReceived) {
  const next = partsOf(response);
  const { bytes } = piece;
  for (let part = await next(); part; part = await next()) {
    if (piece.done + part.length > bytes.length) throw new DownloadFailed(name, 'the answer is longer than it says');
    bytes.set(part, piece.done);
    piece.done += part.length;
    onReceived(piece.done);
  }
  if (piece.done !== bytes.length) throw new ConnectionLost('the answer ended early');
}

/**
 * The body's parts one by one, then null; a part is good until the next is asked for. Where the browser can,
 * they pass through one small buffer: an array for each would pile up until it is collected.
 * @param {Response} response
 * @returns {() => Promise<Uint8Array|null>}
 */
function partsOf(response) {
  const { body } = response;
  if (!body) return async () => null;
  const byob = byobReader(body);
  if (!byob) {
    const reader = body.getReader();
    return async () => (await reader.read()).value ?? null;
  }
  let buffer = new ArrayBuffer(PART_BYTES);
  return async () => {
    const { done, value } = await byob.read(new Uint8Array(buffer));
    if (done || !value) return null;
    buffer = /** @type {ArrayBuffer} */ (value.buffer);
    return value;
  };
}

/** @param {ReadableStream<Uint8Array>} body */
function byobReader(body) {
  try {
    return body.getReader({ mode: 'byob' });
  } catch {
    return null;
  }
}

/** @param {Response} response @param {string} name */
async function refusal(response, name) {
  const retryAfter = seconds(response.headers.get('Retry-After'));
  const refused = readRefusal(await beginning(response));
  const status = response.status;
  if (status === 401)
    return new AppError('unauthorized', refused?.message ?? 'the server asks for a token; pair again');
  if (status === 416)
    return new ServerRefused('weights_changed', 'the server has other weights now; connect again');
  if (refused) {
    const { code, message, retryable } = refused;
    return new ServerRefused(code, message, { retryable, retryAfter });
  }
  if (status >= 500 || status === 429) return new ConnectionLost(`HTTP status ${status}`, retryAfter);
  return new ServerRefused(
    'not_a_split_server',
    `${name}: HTTP status ${status}; this is not a split server`,
  );
}

/** @param {Response} response */
async function beginning(response) {
  const reader = response.body?.getReader();
  const parts = [];
  for (let total = 0; reader && total <= MAX_REFUSAL_BYTES;) {
    const { done, value } = await reader.read();
    if (done) break;
    total += value.length;
    parts.push(value);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (parts)).arrayBuffer());
}

/** @param {string|null} text Retry-After in seconds; dates are left aside */
function seconds(text) {
  return text !== null && /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : null;
}
