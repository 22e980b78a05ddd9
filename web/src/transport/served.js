// Which models a server has, in words that are not trusted.
import { ask, requireOk } from '../common/asking.js';
import { AppError } from '../common/errors.js';
import { printable } from '../common/stranger.js';

/** @typedef {'unloaded' | 'loading' | 'loaded' | 'leaving'} State */
/**
 * `first`: the one that is asked for without a name; `digest` of its manifest, `family`, `bytes` of its weights on the
 * server: null or '' where that is not known before it is loaded.
 * @typedef {{name: string, first: boolean, state: State, digest: string | null, family: string,
 *   bytes: number | null}} ServedModel
 */

const PATH = '/api/v1/models';
const MAX_BYTES = 1 << 20;
const MAX_MODELS = 256;
const MAX_FAMILY = 64;
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const DIGEST = /^[0-9a-f]{64}$/;
const STATES = ['unloaded', 'loading', 'loaded', 'leaving'];
// Of a server that does not know the address, or not this method of it.
const UNKNOWN = [404, 405];

/**
 * The models of a server in its order; none, where it does not list them, as it has one.
 * @param {{url: string, token: string | null, fetch?: typeof globalThis.fetch, seconds?: number}} server
 *   `url` of the server itself, without a trailing slash
 * @returns {Promise<ServedModel[]>}
 * @throws {AppError} models_invalid, server_unreachable, and what the server refuses with
 */
export async function listModels({ url, ...options }) {
  const answer = await ask(url + PATH, { limit: MAX_BYTES, ...options });
  return UNKNOWN.includes(answer.status) ? [] : parseModels(requireOk(answer, 'not_a_split_server'));
}

/** The models of the document `{"models": [...]}`. Throws models_invalid. @param {Uint8Array} bytes @returns {ServedModel[]} */
export function parseModels(bytes) {
  let models;
  try {
    models = JSON.parse(new TextDecoder().decode(bytes))?.models;
  } catch {
    // As what is no list.
  }
  if (!Array.isArray(models) || models.length > MAX_MODELS) throw invalid();
  const found = models.map(modelFrom);
  if (new Set(found.map(({ name }) => name)).size !== found.length) throw invalid();
  return found;
}

/** @param {any} entry @returns {ServedModel} */
function modelFrom(entry) {
  const { name, first, state, manifest, family, bytes } = Object(entry);
  if (typeof name !== 'string' || !NAME.test(name) || !STATES.includes(state)) throw invalid();
  return {
    name,
    first: first === true,
    state,
    digest: typeof manifest === 'string' && DIGEST.test(manifest) ? manifest : null,
    family: typeof family === 'string' ? printable(family, MAX_FAMILY) : '',
    bytes: Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null,
  };
}

function invalid() {
  return new AppError('models_invalid', 'the server’s list of models cannot be used; update the server');
}
