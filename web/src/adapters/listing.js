import { ask, requireOk } from '../common/asking.js';
import { AppError } from '../common/errors.js';
import { printable } from '../common/stranger.js';
import { AdapterListInvalid } from './errors.js';
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
const MAX_HOSTS = 64;
// As a browser writes an origin; 'NAME@' before it stays within what a chat keeps of its adapter.
const ORIGIN = /^https?:\/\/[a-z0-9._-]{1,200}(?::\d{1,5})?$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

/**
 * What a server offers; `hosts`: origins of hosts that compute adapters on ciphertexts.
 * @typedef {{adapters: AdapterInfo[], hosts: string[]}} Offered
 */

/**
 * The adapters of a server, in its order; one that does not know of adapters has none. They are used in the
 * clear, whatever the server says of itself. Throws AdapterListInvalid, server_unreachable, and with the
 * server's own code what it refuses with.
 * @param {{url: string, token: string | null, fetch?: typeof globalThis.fetch, seconds?: number}} server
 *   `url` without a trailing slash
 * @returns {Promise<Offered>}
 */
export async function listAdapters({ url, token, fetch, seconds }) {
  const answer = await asked(url, { token, limit: MAX_BYTES, fetch, seconds });
  if (answer.status === 404) return { adapters: [], hosts: [] };
  const document = requireOk(answer, 'not_a_split_server');
  const adapters = parseListing(document).map((adapter) => ({ ...adapter, encrypted: false }));
  return { adapters, hosts: hostsIn(document) };
}

/**
 * The `adapter_hosts` of the same document; none where it has none. Throws AdapterListInvalid.
 * @param {Uint8Array} bytes @returns {string[]}
 */
export function hostsIn(bytes) {
  const { adapter_hosts: hosts = [] } = parseObject(bytes);
  const isOrigin = (/** @type {unknown} */ host) => typeof host === 'string' && ORIGIN.test(host);
  const good = Array.isArray(hosts) && hosts.length <= MAX_HOSTS && hosts.every(isOrigin);
  require(good, `its adapter hosts are not at most ${MAX_HOSTS} origins`);
  return /** @type {string[]} */ (hosts);
}

/** @param {string} url @param {import('../common/asking.js').Asked} options */
async function asked(url, options) {
  try {
    return await ask(url + PATH, options);
  } catch (error) {
    const tooLong = error instanceof AppError && error.code === 'answer_too_large';
    throw tooLong ? new AdapterListInvalid(`it is longer than ${MAX_BYTES} bytes`) : error;
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
    description: printable(description ?? '', MAX_DESCRIPTION),
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
