/** Markdown of a model as a tree of plain objects: nothing in it is HTML. */
import { masked } from './formulas/masked.js';
import { restored } from './formulas/restored.js';
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
const KEPT_SEGMENTS = 4096;
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
  const runs = runsOf(segmentsOf(text, { streaming }));
  const budget = { work: MOST_WORK };
  return runs.flatMap((run, index) => {
    const last = streaming && index === runs.length - 1;
    return last ? tailBlocks(run, text.endsWith('\n'), budget) : blocksOfRun(run, budget);
  });
}

/** Items of one list together. @param {Segment[]} segments @returns {Segment[][]} */
function runsOf(segments) {
  /** @type {Segment[][]} */
  const runs = [];
  for (const segment of segments) {
    if (segment.joins) runs[runs.length - 1].push(segment);
    else runs.push([segment]);
  }
  return runs;
}

/** @param {Segment[]} run @param {{work: number}} budget @returns {Block[]} */
function blocksOfRun(run, budget) {
  if (run.length === 1) return blocksOnce(run[0], budget);
  const whole = run.map((segment) => (segment.apart ? '\n' : '') + segment.text).join('\n');
  return once(`list\n${whole}`, () => joined(run, run.map((segment) => blocksOnce(segment, budget))));
}

/** @param {Segment[]} run @param {boolean} lineEnded @param {{work: number}} budget */
function tailBlocks(run, lineEnded, budget) {
  const last = run[run.length - 1];
  const settled = settledTail(last, lineEnded);
  if (settled && isSame(settled, last)) return blocksOfRun(run, budget);
  const before = run.slice(0, -1);
  const blocks = before.map((segment) => blocksOnce(segment, budget));
  return joined(run, settled ? [...blocks, read(settled, budget)] : blocks);
}

/** @param {Segment} a @param {Segment} b */
function isSame(a, b) {
  return a.text === b.text && a.lang === b.lang && a.open === b.open;
}

/**
 * One list of the lists that each item became.
 * @param {Segment[]} run @param {Block[][]} parts @returns {Block[]}
 */
function joined(run, parts) {
  /** @type {Block[]} */
  const blocks = [];
  parts.forEach((part, index) => {
    const [last, next] = [blocks[blocks.length - 1], part[0]];
    if (last?.type !== 'list' || next?.type !== 'list') {
      blocks.push(...part.map(ownList));
      return;
    }
    last.tight &&= next.tight && !run[index].apart;
    last.items.push(...next.items);
    blocks.push(...part.slice(1).map(ownList));
  });
  return blocks;
}

/** A list that may grow without changing the one that is kept. @param {Block} block @returns {Block} */
function ownList(block) {
  return block.type === 'list' ? { ...block, items: [...block.items] } : block;
}

/** @param {Segment} segment @param {{work: number}} budget @returns {Block[]} */
function blocksOnce(segment, budget) {
  const key = `${segment.kind}${segment.open ? '+' : ''} ${segment.lang ?? ''}\n${segment.text}`;
  return once(key, () => read(segment, budget));
}

/** @param {string} key @param {() => Block[]} make @returns {Block[]} */
function once(key, make) {
  let blocks = kept.get(key);
  if (blocks) kept.delete(key);
  else {
    blocks = make();
    keptCharacters += key.length;
  }
  kept.set(key, blocks);
  forget();
  return blocks;
}

/** @param {Segment} segment @param {{work: number}} budget @returns {Block[]} */
function read(segment, budget) {
  if (segment.kind === 'fence') return [codeBlock(segment.lang ?? '', segment.text, segment.open ?? false)];
  const { text, open = false } = segment;
  if (segment.kind === 'formula') return [{ type: 'formula', tex: text, display: true, open }];
  const without = masked(text, { open });
  return restored(blocksOf(tokensOf(without.text, budget)), without.held);
}

function forget() {
  for (const key of kept.keys()) {
    if (kept.size <= KEPT_SEGMENTS && keptCharacters <= KEPT_CHARACTERS) return;
    kept.delete(key);
    keptCharacters -= key.length;
  }
}
