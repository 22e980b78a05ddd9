/** What a page that went away could not save any more, put back into its chat. */
import { formIn } from '../settings/form.js';
import { noiseIn } from '../settings/noise_check.js';
import { withEntries } from './redaction/learnt.js';
import { redactionIn } from './redaction/kept.js';
import { choiceIn } from './context/choice.js';
import { rangesIn } from './context/ranges.js';
import { SYSTEM } from './context/shown.js';
import { isRecord, plainRecord } from './plain.js';
import { wellFormed } from './text.js';
import { MAX_NODES, newChat } from './tree.js';

const ID = /^m\d{1,6}$/;

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatNode} ChatNode */
/** @typedef {import('./unsaved.js').Unsaved} Unsaved */

/**
 * The chat with what was not saved of it. A reply that was saved half is completed; what another tab has
 * said meanwhile stays, as a branch beside it.
 * @param {Chat | null} stored null: the disk has no such chat
 * @param {Unsaved} unsaved
 * @returns {Chat | null} null: nothing to save. It is all there, or the chat was deleted since.
 */
export function recovered(stored, { about, known }) {
  if (!stored && known) return null;
  const base = stored ?? { ...about, nodes: {}, roots: [], leaf: null };
  const newer = !stored || about.updated > stored.updated;
  const grown = new Grown(base, newer, (newer ? about : base).system);
  const ids = Object.keys(about.nodes).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  for (const id of ids) grown.take(about.nodes[id]);
  const { nodes, roots } = grown;
  if (!roots.length || (!grown.changed && !newer)) return null;
  const leaf = grown.placeOf(about.leaf);
  const { revision } = base;
  const chosen = newer ? about : base;
  const redaction = redactionOf(chosen, newer ? base : about);
  return { ...chosen, ...(redaction && { redaction }), nodes, roots, leaf: leaf === undefined ? base.leaf : leaf, revision };
}

/** One chat's redaction, with what the other state of it had learnt. @param {Chat} chosen @param {Chat} other */
function redactionOf({ redaction }, { redaction: also }) {
  return redaction && also?.secret === redaction.secret ? withEntries(redaction, also.entries) : redaction;
}

/** A tree that messages are added to; the one it came from stays as it is. */
class Grown {
  /** @param {Chat} chat @param {boolean} newer whether what is added is newer than the chat @param {string} system prompt */
  constructor(chat, newer, system) {
    this._newer = newer;
    this._system = system;
    this.nodes = { ...chat.nodes };
    this.roots = [...chat.roots];
    this.changed = false;
    /** The ids that messages have here. @type {Map<string, string>} */
    this._ids = new Map();
  }

  /** The id that a message has here; undefined: it is not here. @param {string | null} id */
  placeOf(id) {
    if (id === null) return null;
    return this._ids.get(id) ?? (Object.hasOwn(this.nodes, id) ? id : undefined);
  }

  /** @param {ChatNode} node whose parent comes before it */
  take(node) {
    const parent = this.placeOf(node.parent);
    if (parent === undefined) return;
    const here = Object.hasOwn(this.nodes, node.id) ? this.nodes[node.id] : null;
    if (here && isSame(here, node, parent)) this._complete(here, node);
    else this._add(node, parent);
  }

  /** @param {ChatNode} here @param {ChatNode} node the same message, perhaps with more of it */
  _complete(here, node) {
    this._ids.set(node.id, here.id);
    const above = this._aboveOf(node);
    if (here.content === node.content && this._newer && !sameContext(here, { ...node, above })) {
      const { dropped, pinned } = node;
      return this._replace(here, { dropped, pinned, above });
    }
    const more = node.content.length > here.content.length || node.reason !== here.reason;
    if (!isUnfinished(here, node) || !more || !node.content.startsWith(here.content)) return;
    this._replace(here, { ...node, id: here.id, parent: here.parent, children: here.children, above });
  }

  /** What it says of those before it, by their ids here. @param {ChatNode} node @returns {ChatNode['above']} */
  _aboveOf({ above }) {
    if (!above) return undefined;
    const here = Object.entries(above).map(([key, ranges]) => [key === SYSTEM ? key : this.placeOf(key), ranges]);
    return Object.fromEntries(here.filter(([key, ranges]) => rangesIn(ranges, this._contentOf(key)) !== null));
  }

  /** @param {any} key @returns {string} '': it is not here */
  _contentOf(key) {
    return key === SYSTEM ? this._system : (this.nodes[key]?.content ?? '');
  }

  /** @param {ChatNode} here @param {Partial<ChatNode>} about */
  _replace(here, about) {
    this.nodes[here.id] = { ...here, ...about };
    this.changed = true;
  }

  /** @param {ChatNode} node @param {string | null} parent its id here */
  _add(node, parent) {
    const count = Object.keys(this.nodes).length;
    if (count >= MAX_NODES) return;
    const id = `m${count + 1}`;
    this._ids.set(node.id, id);
    const told = this._aboveOf(node);
    this.nodes[id] = { ...node, id, parent, children: [], ...(told && { above: told }) };
    this.changed = true;
    if (parent === null) return void this.roots.push(id);
    const above = this.nodes[parent];
    this.nodes[parent] = { ...above, children: [...above.children, id] };
  }
}

/**
 * Whether `here` may be less of the same reply: one that was being written, or one that had ended and was gone on with.
 * @param {ChatNode} here @param {ChatNode} node
 */
function isUnfinished(here, node) {
  return here.reason === 'interrupted' || (node.reason === 'interrupted' && here.content !== '' && !here.children.length);
}

/** @param {ChatNode} here @param {ChatNode} node @param {string | null} parent of `node`, its id here */
function isSame(here, node, parent) {
  if (here.role !== node.role || here.parent !== parent) return false;
  const grows = isUnfinished(here, node) && node.content.startsWith(here.content);
  const grew = node.reason === 'interrupted' && here.content.startsWith(node.content);
  return here.content === node.content || grows || grew;
}

/**
 * Reads what was kept; what is not as it was written is left out.
 * @param {unknown} kept
 * @returns {Unsaved | null}
 */
export function readUnsaved(kept) {
  if (!isRecord(kept) || typeof kept.known !== 'boolean' || !isRecord(kept.about)) return null;
  const about = /** @type {Record<string, any>} */ (kept.about);
  const whole = typeof about.id === 'string' && typeof about.updated === 'number' && isRecord(about.nodes);
  if (!whole || !Object.entries(about.nodes).every(([id, node]) => isNode(id, node))) return null;
  const params = plainRecord(about.params);
  if (!rangesIn(about.systemDropped, String(about.system))) return null;
  const words = [about.title, about.system, about.model, about.adapter ?? ''];
  if (!params || !words.every((word) => typeof word === 'string')) return null;
  if (about.served != null && typeof about.served !== 'string') return null;
  // Without its noise what is said next would be sent plain.
  const noise = noiseIn(about.noise);
  if (!noise && about.noise) return null;
  // Nor without its redaction.
  const redaction = redactionIn(about.redaction);
  if (!redaction && about.redaction) return null;
  const chosen = { params, noise, redaction, form: formIn(about.form), context: choiceIn(about.context) };
  return { about: /** @type {Chat} */ ({ ...newChat({ id: about.id }), ...about, ...chosen }), known: kept.known };
}

/** @param {string} id @param {any} node */
function isNode(id, node) {
  return (
    ID.test(id) &&
    isRecord(node) &&
    node.id === id &&
    (node.parent === null || typeof node.parent === 'string') &&
    (node.role === 'user' || node.role === 'assistant') &&
    typeof node.content === 'string' &&
    node.content === wellFormed(node.content) &&
    (node.sent === undefined || (typeof node.sent === 'string' && node.sent === wellFormed(node.sent))) &&
    rangesIn(node.dropped, node.content) !== null &&
    (node.above === undefined || (isRecord(node.above) && Object.keys(node.above).every((key) => key === SYSTEM || ID.test(key))))
  );
}

/** Whether the same of it travels, and it is pinned in both. @param {ChatNode} here @param {ChatNode} node */
function sameContext(here, node) {
  const of = (/** @type {ChatNode} */ { dropped, pinned, above }) => JSON.stringify([dropped ?? [], pinned === true, above ?? {}]);
  return of(here) === of(node);
}
