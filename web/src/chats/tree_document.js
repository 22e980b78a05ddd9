/** The branches of a chat in its document: `tree`, whose nodes are a list in the order they grew. */
import { choiceIn } from './context/choice.js';
import { AboveReader, aboveOf, contextOf, ofSystem } from './context/document.js';
import { formIn } from '../settings/form.js';
import { noiseIn } from '../settings/noise_check.js';
import { ConversationFileInvalid } from './errors.js';
import { isRecord, plainRecord } from './plain.js';
import { isWellFormed } from './text.js';
import { tidyTitle } from './titles.js';
import { MAX_NODES, messages, newChat } from './tree.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./types').Kept} Kept */

// 2100: times are only shown and sorted by.
const LAST_TIME = 4_102_444_800_000;
const LONGEST_WORD = 64;

/**
 * Parents are places in the list, and always stand before their children.
 * @param {Chat} chat
 */
export function treeOf(chat) {
  const ids = Object.keys(chat.nodes).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  const places = new Map(ids.map((id, index) => [id, index]));
  const place = (/** @type {string|null} */ id) => (id === null ? null : places.get(id));
  // Settings of noise, without which what was sent with noise would be sent plain; its key is nowhere in a chat.
  const { title, adapter, params, created, updated, noise, form, context, pinned, folder } = chat;
  const nodes = ids.map((id) => {
    const { parent, role, content, reason, stats, created: at, dropped, pinned, brightness, above } = chat.nodes[id];
    const about = { dropped, pinned, brightness, above: aboveOf(above, places) };
    return { parent: place(parent), role, content, created: at, reason, stats, ...about };
  });
  const chosen = { noise: noise ?? undefined, form: form ?? undefined, context: context ?? undefined };
  const about = { title, adapter, ...chosen, pinned, folder, params, system_dropped: chat.systemDropped };
  return { ...about, created, updated, leaf: place(chat.leaf), nodes };
}

/**
 * Reads `tree` whole; nothing of it is trusted.
 * @param {unknown} tree
 * @param {{id: string, model: string, now: number}} about
 * @param {Kept[]} shown the document's messages, which the shown path must equal
 * @returns {Chat} throws ConversationFileInvalid
 */
export function treeIn(tree, { id, model, now }, shown) {
  if (!isRecord(tree)) throw new ConversationFileInvalid("'tree' is not an object");
  const { title, adapter, params } = tree;
  const system = shown[0]?.role === 'system' ? shown[0].content : '';
  const chat = { ...newChat({ id, model, now, system }), ...ofSystem(shown[0], tree) };
  const { nodes, roots } = nodesIn(tree.nodes, system, now);
  const form = formIn(tree.form);
  const context = choiceIn(tree.context);
  const read = {
    ...chat,
    ...(form && { form }),
    ...(context && { context }),
    ...(tree.pinned === true && { pinned: true }),
    ...folderIn(tree.folder),
    title: typeof title === 'string' ? tidyTitle(title) : '',
    adapter: typeof adapter === 'string' && isAdapter(adapter) ? adapter : null,
    noise: noiseOf(tree.noise),
    params: params === undefined ? {} : recordIn(params, "'params'"),
    created: timeIn(tree.created, now),
    updated: timeIn(tree.updated, now),
    nodes,
    roots,
    leaf: placeIn(tree.leaf, Object.keys(nodes).length, "'leaf'"),
  };
  if (!sameMessages(messages(read), system ? shown : shown.filter(({ role }) => role !== 'system'))) {
    throw new ConversationFileInvalid("'tree' does not lead to the same 'messages'");
  }
  return read;
}

/** @param {unknown} name @returns {{folder?: string}} */
function folderIn(name) {
  const folder = typeof name === 'string' ? tidyTitle(name) : '';
  return folder ? { folder } : {};
}

/** @param {unknown} list @param {string} system @param {number} now */
function nodesIn(list, system, now) {
  if (!Array.isArray(list) || list.length > MAX_NODES) {
    throw new ConversationFileInvalid(`'nodes' is not a list of at most ${MAX_NODES}`);
  }
  /** @type {Record<string, ChatNode>} */
  const nodes = {};
  /** @type {string[]} */
  const roots = [];
  const read = new AboveReader(nodes, system);
  list.forEach((item, index) => {
    const node = { ...nodeIn(item, index, now), ...read.of(item.above, `node ${index}`) };
    const above = node.parent === null ? roots : nodes[node.parent].children;
    above.push(node.id);
    nodes[node.id] = node;
  });
  return { nodes, roots };
}

/** @param {unknown} item @param {number} index @param {number} now @returns {ChatNode} */
function nodeIn(item, index, now) {
  const what = `node ${index}`;
  if (!isRecord(item)) throw new ConversationFileInvalid(`${what} is not an object`);
  const { role, content, reason, stats } = item;
  if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string' || !isWellFormed(content)) {
    throw new ConversationFileInvalid(`${what} has no 'role' (user, assistant) and 'content'`);
  }
  /** @type {ChatNode} */
  const node = {
    id: `m${index + 1}`,
    // A parent stands before its children, so that no cycle can be written at all.
    parent: placeIn(item.parent, index, `the parent of ${what}`),
    role,
    content,
    children: [],
    created: timeIn(item.created, now),
  };
  if (reason !== undefined) node.reason = wordIn(reason, `the reason of ${what}`);
  if (stats !== undefined) node.stats = recordIn(stats, `the stats of ${what}`);
  return { ...node, ...contextOf(item, content, what) };
}

/** @param {unknown} place @param {number} below @param {string} what @returns {string|null} */
function placeIn(place, below, what) {
  if (place === null) return null;
  if (typeof place !== 'number' || !Number.isInteger(place) || place < 0 || place >= below) {
    throw new ConversationFileInvalid(`${what} is not null or a number below ${below}`);
  }
  return `m${place + 1}`;
}

/** @param {unknown} value @param {string} what */
function recordIn(value, what) {
  const record = plainRecord(value);
  if (!record) throw new ConversationFileInvalid(`${what} is not a small object of plain values`);
  return record;
}

/** @param {unknown} value @param {string} what */
function wordIn(value, what) {
  if (typeof value !== 'string' || !isWord(value)) throw new ConversationFileInvalid(`${what} is not a word`);
  return value;
}

/** A name, or NAME@ORIGIN of one that a host computes. @param {string} text */
function isAdapter(text) {
  const [name, host] = text.split(/@(https?:\/\/[a-z0-9._-]{1,200}(?::\d{1,5})?)$/);
  return isWord(name) && (host !== undefined || name === text);
}

/** @param {string} text */
function isWord(text) {
  return text.length <= LONGEST_WORD && /^[\p{L}\p{N}_.:-]+$/u.test(text);
}

/** @param {unknown} value @param {number} now */
function timeIn(value, now) {
  return typeof value === 'number' && value >= 0 && value <= LAST_TIME ? Math.floor(value) : now;
}

/** @param {import('../../types/gatelink').Message[]} left @param {Kept[]} right */
function sameMessages(left, right) {
  return (
    left.length === right.length &&
    left.every(({ role, content }, index) => role === right[index].role && content === right[index].content)
  );
}

/** Settings of noise, or null where there are none. @param {unknown} value */
function noiseOf(value) {
  const noise = noiseIn(value);
  // What is not understood is not left out: the chat would be sent plain.
  if (!noise && (value ?? null) !== null) throw new ConversationFileInvalid("'noise' is not as it should be");
  return noise;
}
