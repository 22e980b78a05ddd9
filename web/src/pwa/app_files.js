/** The files of which the app of one build consists. */

/** @typedef {{build: string, files: string[]}} AppFiles */

export const LIST = '/app-files.json';
const MOST_FILES = 200;
const LONGEST_PATH = 200;
// Never kept: what belongs to a person or to a model, and what must be asked for again each time.
const FORBIDDEN = /^\/(?:api|weights|v1|pair|health|metrics|app-files\.json|service-worker\.js)(?:[/.?]|$)/;
const PLAIN_PATH = /^\/[\w./-]*$/;
// What the page loads by name, without a tag in its HTML.
const BY_NAME = ['engine.js', 'ends.js', 'template.js', 'rendering.js', 'rendered.css', 'tint.css', 'kernels.wasm',
  'kernels-relaxed.wasm'];
const BESIDE = ['/', '/manifest.webmanifest'];

/** Whether a path of this origin may be kept at all. @param {string} path */
export function mayKeep(path) {
  if (path.length > LONGEST_PATH || !PLAIN_PATH.test(path)) return false;
  return !path.includes('..') && !path.includes('//') && !FORBIDDEN.test(path);
}

/**
 * The server's list, checked.
 * @param {unknown} value @returns {AppFiles|null} null: it is no such list
 */
export function checkedList(value) {
  if (typeof value !== 'object' || value === null) return null;
  const { build, files } = /** @type {Record<string, unknown>} */ (value);
  if (typeof build !== 'string' || !/^[\w-]{1,64}$/.test(build)) return null;
  if (!Array.isArray(files) || files.length > MOST_FILES) return null;
  if (!files.every((path) => typeof path === 'string')) return null;
  const kept = new Set(files.filter(mayKeep));
  return kept.has('/') ? { build, files: [...kept] } : null;
}

/**
 * The same from the page itself, for a server that has no list.
 * @param {string} html @param {string} base URL of the page
 * @returns {AppFiles|null} null: the page names no build
 */
export function listInPage(html, base) {
  const paths = [...html.matchAll(/(?:src|href)="([^"]{1,200})"/g)].map(([, target]) => pathOf(target, base));
  const build = paths.map((path) => /^\/app\/([\w-]{1,64})\//.exec(path)?.[1]).find(Boolean);
  if (!build) return null;
  const byName = BY_NAME.map((name) => `/app/${build}/${name}`);
  return checkedList({ build, files: [...BESIDE, ...paths, ...byName] });
}

/** @param {string} target @param {string} base @returns {string} '' where it leads elsewhere */
function pathOf(target, base) {
  try {
    const url = new URL(target, base);
    return url.origin === new URL(base).origin ? url.pathname : '';
  } catch {
    return '';
  }
}
