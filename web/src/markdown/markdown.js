/** Markdown of a model as a tree of plain objects: nothing in it is HTML. */
import { tokensOf } from './lexer.js';
import { blocksOf, codeBlock } from './nodes.js';
import { segmentsOf } from './segments.js';
import { settledTail } from './tail.js';

/** @typedef {import('./types').Block} Block */
/** @typedef {import('./types').Segment} Segment */

// A longer text is shown as it was written.
export const LONGEST_TEXT = 4 << 20;
// Characters times delimiters; see lexer.js.
const MOST_WORK = 64_000_000;
const KEPT_SEGMENTS = 512;
const KEPT_CHARACTERS = 1 << 20;

/** Blocks of the segments that were read last, the oldest first. @type {Map<string, Block[]>} */
const kept = new Map();
let keptCharacters = 0;

/**
 * The blocks of a text. Those that have not changed since a call before are the same objects.
 * @param {string} text
 * @param {{streaming?: boolean}} [how] streaming: more follows, so that what is not closed yet at the
 *   end is shown as if it were, and marks that may still become something are held back
 * @returns {Block[]}
 */
export function parseMarkdown(text, { streaming = false } = {}) {
  if (text.length > LONGEST_TEXT) return [{ type: 'paragraph', children: [{ type: 'text', text }] }];
  const segments = segmentsOf(text);
  const budget = { work: MOST_WORK };
  return segments.flatMap((segment, index) => {
    const last = streaming && index === segments.length - 1;
    return last ? tailBlocks(segment, /\n$/.test(text), budget) : blocksOnce(segment, budget);
  });
}

/** @param {Segment} segment @param {boolean} lineEnded @param {{work: number}} budget */
function tailBlocks(segment, lineEnded, budget) {
  const settled = settledTail(segment, lineEnded);
  if (!settled) return [];
  return settled.text === segment.text ? blocksOnce(segment, budget) : read(settled, budget);
}

/** @param {Segment} segment @param {{work: number}} budget @returns {Block[]} */
function blocksOnce(segment, budget) {
  const key = `${segment.kind}${segment.open ? '+' : ''} ${segment.lang ?? ''}\n${segment.text}`;
  let blocks = kept.get(key);
  if (blocks) kept.delete(key);
  else {
    blocks = read(segment, budget);
    keptCharacters += key.length;
  }
  kept.set(key, blocks);
  forget();
  return blocks;
}

/** @param {Segment} segment @param {{work: number}} budget @returns {Block[]} */
function read(segment, budget) {
  if (segment.kind === 'fence') return [codeBlock(segment.lang ?? '', segment.text, segment.open ?? false)];
  return blocksOf(tokensOf(segment.text, budget));
}

function forget() {
  for (const key of kept.keys()) {
    if (kept.size <= KEPT_SEGMENTS && keptCharacters <= KEPT_CHARACTERS) return;
    kept.delete(key);
    keptCharacters -= key.length;
  }
}
