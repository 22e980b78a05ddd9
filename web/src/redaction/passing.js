// One text on its way out: each value replaced, entries made for those that have none.
import { NAMES } from './kinds.js';
import { note } from './known_values.js';
import { respelled } from './spelling.js';

/** @typedef {import('./kinds.js').Found} Found */
/** @typedef {import('./entries.js').Entry} Entry */
/** @typedef {import('./finding/looked.js').Looked} Looked */
/** @typedef {import('./surrogates/making.js').Spoken} Spoken */
/** @typedef {import('./alignment.js').Piece} Piece */

/**
 * Entries for those values of a text that have none, in the order in which they stand there.
 * @param {readonly Found[]} found from left to right, apart
 * @param {import('./entries.js').Entries} entries @param {() => Spoken} ask
 * @param {(found: Found, spoken: Spoken) => Promise<Entry>} make
 * @returns {Promise<Entry[]>}
 */
export async function newEntries(found, entries, ask, make) {
  /** @type {Map<string, Entry>} */
  const made = new Map();
  /** @type {Spoken | null} */
  let spoken = null;
  for (const each of found) {
    const key = `${NAMES.has(each.kind) ? 'name' : each.kind} ${each.key}`;
    if (entries.get(each.kind, each.key) || made.has(key)) continue;
    spoken ??= ask();
    const entry = await make(each, spoken);
    note(spoken, entry);
    made.set(key, entry);
  }
  return [...made.values()];
}

/**
 * The text with surrogates, and where they stand.
 * @param {Looked} looked @param {readonly Found[]} found @param {import('./entries.js').Entries} entries that have all of them
 * @returns {{text: string, pieces: Piece[]}}
 */
export function replaced(looked, found, entries) {
  const { source, folded } = looked;
  /** @type {Piece[]} */
  const pieces = [];
  let [made, done] = ['', 0];
  for (const { kind, key, start, end, parts } of found) {
    const entry = /** @type {Entry} */ (entries.get(kind, key));
    const { from, to } = folded.range(start, end);
    const written = respelled(kind, entry.surrogate, looked, start, end, parts);
    // Two values may have parts of one cluster.
    const begins = Math.max(done, from);
    made += source.slice(done, begins);
    pieces.push({ from: begins, to: Math.max(begins, to), at: made.length, end: made.length + written.length });
    made += written;
    done = Math.max(done, to);
  }
  return { text: made + source.slice(done), pieces };
}

/** A value as it comes back where nothing of its spelling is left. @param {Found} found */
export function firstWritten({ kind, written }) {
  if (!NAMES.has(kind)) return written;
  const plain = written === written.toUpperCase() || written === written.toLowerCase();
  return plain ? written.slice(0, 1).toUpperCase() + written.slice(1).toLowerCase() : written;
}
