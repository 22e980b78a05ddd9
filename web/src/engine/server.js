import { AppError } from '../common/errors.js';

const MAX_MANIFEST_BYTES = 4 << 20;
const SECONDS = 20;

/** No server answers at the address. */
export class ServerUnreachable extends AppError {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('server_unreachable', 'the server does not answer; is it running, and is this the same network?', {
      retryable: true,
      cause,
    });
  }
}

/** What a server answers before a session is opened, read with bounds. */
export class Server {
  /**
   * @param {string} url without a trailing slash
   * @param {string | null} token
   * @param {{fetch?: typeof globalThis.fetch, seconds?: number}} [options]
   */
  constructor(url, token, { fetch = globalThis.fetch.bind(globalThis), seconds = SECONDS } = {}) {
    this.url = url;
    this.token = token;
    this._fetch = fetch;
    this._seconds = seconds;
  }

  /** The manifest's bytes as served. Throws ServerUnreachable and what the server refuses with. */
  manifest() {
    return this.read('/weights/manifest.json', MAX_MANIFEST_BYTES);
  }

  /**
   * @param {string} path
   * @param {number} limit bytes
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async read(path, limit) {
    try {
      const response = await this._fetch(this.url + path, {
        headers: this.token === null ? {} : { Authorization: `Bearer ${this.token}` },
        cache: 'no-store',
        signal: AbortSignal.timeout(this._seconds * 1000),
      });
      if (!response.ok) throw await refusal(response);
      return await bounded(response, limit);
    } catch (error) {
      throw error instanceof AppError ? error : new ServerUnreachable(error);
    }
  }
}

/** @param {Response} response @param {number} limit */
async function bounded(response, limit) {
  const chunks = [];
  let size = 0;
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > limit) {
      await reader.cancel();
      throw new AppError('answer_too_large', `the server's answer is longer than ${limit} bytes`);
    }
    chunks.push(part.value);
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** @param {Response} response */
async function refusal(response) {
  const text = new TextDecoder().decode(await bounded(response, 1 << 16));
  const { code, message, retryable } = parsed(text);
  return new AppError(code ?? `http_${response.status}`, message ?? `the server answered ${response.status}`, {
    retryable: retryable ?? response.status >= 500,
  });
}

/** @param {string} text @returns {{code?: string, message?: string, retryable?: boolean}} */
function parsed(text) {
  try {
    const { error } = JSON.parse(text);
    const { code, message, retryable } = error;
    if (typeof code !== 'string' || !/^[a-z0-9_]{1,64}$/.test(code)) return {};
    return { code, message: String(message).slice(0, 1000), retryable: retryable === true };
  } catch {
    return {};
  }
}
