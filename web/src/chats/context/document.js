/** What of a chat travels, and how bright it is, in its document. */
import { isBrightness } from '../brightness/kept.js';
import { CodePoints } from './code_points.js';
import { rangesBelow, rangesIn } from './ranges.js';
import { ConversationFileInvalid } from '../errors.js';
import { SYSTEM } from './shown.js';

/** @typedef {import('../types').ChatNode} ChatNode */
/** @typedef {import('../types').Kept} Kept */
/** @typedef {import('../types').Range} Range */
/** The place of a message, null: the system prompt, and what is dropped of it. @typedef {[number | null, Range[]]} Above */

/**
 * What of a message does not travel, whether it is pinned and how bright it is, where the document says so.
 * @param {Record<string, unknown>} item @param {string} content @param {string} what it is
 * @returns {{dropped?: import('../types').Range[], pinned?: boolean, brightness?: string}} throws ConversationFileInvalid
 */
export function contextOf({ dropped: given, pinned, brightness }, content, what) {
  const dropped = rangesIn(given, content);
  if (!dropped) throw new ConversationFileInvalid(`${what}: its 'dropped' are no ranges of its text, in order and apart`);
  const bright = brightness === undefined ? {} : { brightness: brightnessIn(brightness, content, what) };
  return { ...(dropped.length && { dropped }), ...(pinned === true && { pinned }), ...bright };
}

/**
 * What is known of the system prompt. With a tree that one says what is dropped of it where no branch has its own word
 * on it; `messages` have what is dropped on the shown one.
 * @param {Kept | undefined} first of a document's messages @param {Record<string, unknown>} [tree]
 */
export function ofSystem(first, tree = {}) {
  if (first?.role !== 'system' || !first.content) return {};
  const { pinned, brightness } = first;
  const dropped = Object.hasOwn(tree, 'system_dropped') || hasAbove(tree)
    ? contextOf({ dropped: tree.system_dropped }, first.content, "'tree'").dropped : first.dropped;
  return {
    ...(dropped && { systemDropped: dropped }),
    ...(pinned && { systemPinned: pinned }),
    ...(brightness && { systemBrightness: brightness }),
  };
}

/** @param {unknown} brightness @param {string} content @param {string} what @returns {string} */
function brightnessIn(brightness, content, what) {
  if (!isBrightness(brightness, content)) {
    throw new ConversationFileInvalid(`the 'brightness' of ${what} is not that of its 'content'`);
  }
  return brightness;
}

/** @param {Record<string, unknown>} tree whether any branch of it has a word on others */
function hasAbove({ nodes }) {
  return Array.isArray(nodes) && nodes.some((node) => node?.above !== undefined);
}

/** As a document has it: by places in its list. @param {ChatNode['above']} above @param {Map<string, number>} places @returns {Above[] | undefined} */
export function aboveOf(above, places) {
  if (!above) return undefined;
  return Object.entries(above).map(([key, ranges]) => [key === SYSTEM ? null : places.get(key) ?? null, ranges]);
}

/** Reads what messages say of those before them. */
export class AboveReader {
  /** @param {Record<string, ChatNode>} nodes those that were read so far @param {string} system */
  constructor(nodes, system) {
    this._nodes = nodes;
    this._system = system;
    /** Code points of each content; one that many messages speak of is counted once. @type {Map<string, number>} */
    this._lengths = new Map();
  }

  /** @param {unknown} given @param {string} what says it @returns {{above?: Record<string, Range[]>}} throws ConversationFileInvalid */
  of(given, what) {
    if (given === undefined) return {};
    if (!Array.isArray(given) || !given.length) throw wrong(what);
    return { above: Object.fromEntries(given.map((each) => this._entry(each, what))) };
  }

  /** @param {unknown} each @param {string} what @returns {[string, Range[]]} */
  _entry(each, what) {
    if (!Array.isArray(each) || each.length !== 2) throw wrong(what);
    const [place, given] = each;
    const key = place === null ? SYSTEM : `m${Number(place) + 1}`;
    // A message speaks of those before it alone, and these have been read.
    if (place !== null && (!Number.isInteger(place) || !Object.hasOwn(this._nodes, key))) throw wrong(what);
    const ranges = rangesBelow(given, this._length(key));
    if (!ranges) throw wrong(what);
    return [key, ranges];
  }

  /** @param {string} key */
  _length(key) {
    const length = this._lengths.get(key) ?? new CodePoints(key === SYSTEM ? this._system : this._nodes[key].content).length;
    this._lengths.set(key, length);
    return length;
  }
}

/** @param {string} what */
function wrong(what) {
  return new ConversationFileInvalid(`the 'above' of ${what} is no list of earlier messages with ranges of their text`);
}
