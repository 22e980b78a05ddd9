// The oldest browsers that are served, and a check of what is built:  node floor.mjs [FOLDER]
import { transform } from 'esbuild';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** All of spring 2023; they are the first with module workers, WebAssembly SIMD and synchronous files. */
export const TARGET = ['chrome111', 'firefox114', 'safari16.4'];

// What at least one of them lacks (MDN's browser-compat-data). Names that packages look for before they use
// them are left out: moveBefore (preact), toHex and fromHex (noble). Syntax: see syntaxBeyond().
const CALLS = [
  'Array.fromAsync',
  'AbortSignal.any',
  'Error.isError',
  'Intl.DurationFormat',
  'Intl.Segmenter',
  'Iterator.from',
  'Map.groupBy',
  'Math.f16round',
  'Object.groupBy',
  'Promise.try',
  'Promise.withResolvers',
  'ReadableStream.from',
  'RegExp.escape',
  'URL.canParse',
  'URL.parse',
  'Uint8Array.fromBase64',
  'scheduler.postTask',
  'scheduler.yield',
];
const METHODS = [
  'checkVisibility',
  'difference',
  'getFloat16',
  'intersection',
  'isDisjointFrom',
  'isSubsetOf',
  'isSupersetOf',
  'setFloat16',
  'setHTMLUnsafe',
  'showPopover',
  'symmetricDifference',
  'toBase64',
  'toReversed',
  'toSorted',
  'toSpliced',
  'toWellFormed',
  'transferToFixedLength',
  'waitAsync',
];
const HELPERS = 'drop|every|filter|find|flatMap|forEach|map|reduce|some|take|toArray';
const STYLES = /light-dark\(|@starting-style|@scope|anchor\(|if\(|interpolate-size/g;
const NAMES = new RegExp(
  [
    `\\b(?:${CALLS.map((name) => name.replace('.', '\\.')).join('|')})\\b`,
    `\\.(?:${METHODS.join('|')})\\(`,
    // Helpers of iterators.
    `\\.(?:entries|keys|values)\\(\\)\\.(?:${HELPERS})\\(`,
  ].join('|'),
  'g',
);

/** Names in `code` that some of these browsers do not know. @param {string} code @param {'js' | 'css'} kind */
export function namesBeyond(code, kind) {
  return [...new Set(code.match(kind === 'css' ? STYLES : NAMES) ?? [])];
}

/**
 * Whether the compiler would write `code` in another way for these browsers than for the newest one.
 * @param {string} code @param {'js' | 'css'} kind
 */
export async function syntaxBeyond(code, kind) {
  const written = async (/** @type {string | string[]} */ target) => {
    const options = { loader: kind, minify: true, legalComments: /** @type {const} */ ('none') };
    return (await transform(code, { ...options, target, logLevel: /** @type {const} */ ('silent') })).code;
  };
  return (await written(TARGET)) !== (await written('esnext'));
}

/** What is wrong with the scripts and styles of a built app. @param {string} folder */
export async function beyond(folder) {
  const problems = [];
  for (const name of await readdir(folder, { recursive: true })) {
    const kind = /\.(js|css)$/.exec(name)?.[1];
    if (kind !== 'js' && kind !== 'css') continue;
    const code = await readFile(join(folder, name), 'utf8');
    for (const found of namesBeyond(code, kind)) problems.push(`${name}: ${found} is younger than ${TARGET.join(', ')}`);
    if (await syntaxBeyond(code, kind)) problems.push(`${name}: syntax that is younger than ${TARGET.join(', ')}`);
  }
  return problems;
}

const HERE = fileURLToPath(import.meta.url);
if (process.argv[1] && resolve(process.argv[1]) === HERE) {
  const folder = process.argv[2] ?? join(dirname(HERE), '../server/split_server/web_app');
  const problems = await beyond(folder);
  for (const problem of problems) console.error(`floor: ${problem}`);
  process.exit(problems.length ? 1 : 0);
}
