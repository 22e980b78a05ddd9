import { AppError } from '../common/errors.js';
import { AdapterListInvalid, ServerUnreachable } from './errors.js';
import { parseObject } from './strict_json.js';

/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

const PATH = '/api/v1/adapters';
const MAX_BYTES = 8 << 20;
const MAX_ADAPTERS = 64;
const MAX_KEYWORDS = 1000;
const MAX_KEYWORD = 200;
const MAX_DESCRIPTION = 1000;
const MAX_RANK = 64;
const MAX_HIDDEN = 1 << 16;
const MAX_SCALE = 1e4;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;
// Other, separators: what a person cannot read, but for the space.
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;
const SECONDS = 20;

/**
 * The adapters of a server, in its order; one that does not know of adapters has none. They are used in the
 * clear, whatever the server says of itself. Throws AdapterListInvalid, ServerUnreachable, and with the
 * server's own code what it refuses with.
 * @param {{url: string, token: string | null, fetch?: typeof globalThis.fetch, seconds?: number}} server
 *   `url` without a trailing slash
 * @returns {Promise<AdapterInfo[]>}
 */
export async function listAdapters({ url, token, fetch = globalThis.fetch, seconds = SECONDS }) {
  try {
    const response = await fetch(url + PATH, {
      headers: token === null ? {} : { Authorization: `Bearer ${token}` },
      cache: 'no-store',
      signal: AbortSignal.timeout(seconds * 1000),
    });
    if (response.status === 404) return [];
    const bytes = await bounded(response);
    if (response.status !== 200) throw refusal(response.status, bytes);
    return parseListing(bytes).map((adapter) => ({ ...adapter, encrypted: false }));
  } catch (error) {
    throw error instanceof AppError ? error : new ServerUnreachable(error);
  }
}

/**
 * The adapters of the document `{"adapters": [...]}`. Throws AdapterListInvalid.
 * @param {Uint8Array} bytes
 * @returns {AdapterInfo[]}
 */
export function parseListing(bytes) {
  const { adapters } = parseObject(bytes);
  if (!Array.isArray(adapters) || adapters.length > MAX_ADAPTERS) {
    throw new AdapterListInvalid(`it is not a list of at most ${MAX_ADAPTERS}`);
  }
  const found = adapters.map(adapterFrom);
  if (new Set(found.map((adapter) => adapter.name)).size !== found.length) {
    throw new AdapterListInvalid('a name occurs twice');
  }
  return found;
}

/** @param {any} entry @returns {AdapterInfo} */
function adapterFrom(entry) {
  if (entry === null || typeof entry !== 'object' || Array.isArray(entry)) {
    throw new AdapterListInvalid('an entry is not an object');
  }
  const { name, description, rank, hidden_size: hiddenSize, scale, keywords, encrypted } = entry;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new AdapterListInvalid("a name has other characters than letters, digits, '.', '_', '-'");
  }
  const hasShape = isCount(rank, MAX_RANK) && isCount(hiddenSize, MAX_HIDDEN);
  require(hasShape, `${name} has no rows or no columns, or too many`);
  require(description == null || typeof description === 'string', `the description of ${name} is not text`);
  require(isScale(scale), `the scale of ${name} is not a number of at most ${MAX_SCALE}`);
  const hasKeywords = keywords == null || areKeywords(keywords);
  require(hasKeywords, `the keywords of ${name} are not at most ${MAX_KEYWORDS} short texts`);
  require(encrypted == null || typeof encrypted === 'boolean', `"encrypted" of ${name} is not true or false`);
  return {
    name,
    description: printable(description ?? ''),
    rank,
    hiddenSize,
    scale,
    keywords: keywords ?? [],
    encrypted: encrypted ?? false,
  };
}

/** @param {boolean} met @param {string} otherwise */
function require(met, otherwise) {
  if (!met) throw new AdapterListInvalid(otherwise);
}

/** @param {unknown} value @param {number} most */
function isCount(value, most) {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
}

/** @param {unknown} value */
function isScale(value) {
  return typeof value === 'number' && Math.abs(value) <= MAX_SCALE;
}

/** @param {unknown} value */
function areKeywords(value) {
  return Array.isArray(value) && value.length <= MAX_KEYWORDS && value.every(isKeyword);
}

/** @param {unknown} value */
function isKeyword(value) {
  return typeof value === 'string' && value.length <= 2 * MAX_KEYWORD && [...value].length <= MAX_KEYWORD;
}

/** @param {string} text */
function printable(text) {
  // At most two code units for each code point: no need to take a long text apart whole.
  const start = [...text.slice(0, 2 * MAX_DESCRIPTION)].slice(0, MAX_DESCRIPTION).join('');
  return start.replace(UNPRINTABLE, ' ');
}

/** @param {Response} response */
async function bounded(response) {
  const parts = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    size += part.value.length;
    if (size > MAX_BYTES) {
      await reader?.cancel();
      throw new AdapterListInvalid(`it is longer than ${MAX_BYTES} bytes`);
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** @param {number} status @param {Uint8Array} bytes */
function refusal(status, bytes) {
  try {
    const { code, message, retryable } = JSON.parse(new TextDecoder().decode(bytes)).error;
    if (typeof code === 'string' && typeof message === 'string' && /^[a-z0-9_]{1,64}$/.test(code)) {
      return new AppError(code, message.slice(0, 1000), { retryable: retryable === true });
    }
  } catch {
    // Somebody else's page, perhaps a proxy's.
  }
  return new AppError('not_a_split_server', `HTTP status ${status} for the list of adapters`);
}
