import { ask, requireOk } from '../common/asking.js';
import { AppError } from '../common/errors.js';
import { httpReader } from '../weights/download/http_reader.js';
import { parseManifest } from '../weights/manifest.js';

const MAX_MANIFEST_BYTES = 4 << 20;
// How a download fails where the files at its names are those of another model.
const SUSPICIOUS = new Set(['download_damaged', 'download_failed', 'weights_changed', 'not_found']);

/** What a server answers before a session is opened. */
export class Server {
  /**
   * @param {string} url without a trailing slash
   * @param {string | null} token
   * @param {{fetch?: typeof globalThis.fetch, seconds?: number}} [options]
   */
  constructor(url, token, { fetch, seconds } = {}) {
    this.url = url;
    this.token = token;
    this._fetch = fetch;
    this._seconds = seconds;
    /** Reads its weights; a piece that was paused goes on where it stopped. */
    this.weights = httpReader({ url, token, fetch });
    /** Names of packed forms of its files, as the answer with the manifest told them. */
    this.packed = '';
  }

  /**
   * The manifest's bytes as served.
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {import('../common/errors.js').AppError} server_unreachable, answer_too_large, what it refuses with
   */
  async manifest() {
    const { token, _fetch: fetch, _seconds: seconds } = this;
    const limit = MAX_MANIFEST_BYTES;
    const answer = await ask(`${this.url}/weights/manifest.json`, { token, limit, fetch, seconds });
    this.packed = answer.headers.get('X-Packed') ?? '';
    return requireOk(answer);
  }

  /**
   * Whether a download of the model with this digest failed because another one is served.
   * @param {string} digest @param {unknown} error
   */
  async changed(digest, error) {
    if (!(error instanceof AppError && SUSPICIOUS.has(error.code))) return false;
    try {
      return parseManifest(await this.manifest()).digest !== digest;
    } catch {
      // The download's own error says more.
      return false;
    }
  }
}
