// Colours of parts of the conversation, as CSS highlights: no element is made or changed for them.
import { brought, placeId } from '../messages/places.js';
import { Shown } from './shown.js';

/** Dim, dimmer, dimmest. */
export const DIM_LEVELS = 3;
export const LOOKED_LEVELS = 4;
// Pieces that are looked up at once, so that a long chat does not hold up the page.
const AT_ONCE = 120;
const MESSAGE = '[data-node]';
const TEXT = '.bubble, .text';

/** @typedef {{node: string | null, at: number, length: number}} Part of a message */

/** Whether this browser can colour parts of texts. */
export const canPaint = () => typeof Highlight === 'function' && Boolean(globalThis.CSS?.highlights);

/** Colours the messages below one element. */
export class Paint {
  /**
   * @param {HTMLElement} place @param {(node: string) => string | undefined} source of a message
   * @param {(run: () => void) => unknown} [frame]
   */
  constructor(place, source, frame = (run) => requestAnimationFrame(run)) {
    this._place = place;
    this._source = source;
    this._frame = frame;
    /** @type {Map<string, Shown>} */
    this._shown = new Map();
    /** @type {Map<string, symbol>} the newest painting of each kind */
    this._newest = new Map();
  }

  /**
   * Gives parts their levels: 0 none, 1 and above the highlight `KIND-LEVEL`. Neighbours of one level are one range.
   * @param {'dim' | 'looked' | 'chosen' | 'place'} kind @param {number} levels
   * @param {Part[]} parts @param {ArrayLike<number>} level of each
   */
  paint(kind, levels, parts, level) {
    if (!canPaint()) return;
    const own = Symbol(kind);
    this._newest.set(kind, own);
    const sets = Array.from({ length: levels }, () => /** @type {Range[]} */ ([]));
    const runs = merged(parts, level);
    const work = (/** @type {number} */ from) => {
      if (this._newest.get(kind) !== own) return;
      const stop = Math.min(from + AT_ONCE, runs.length);
      for (let i = from; i < stop; i++) sets[runs[i].level - 1].push(...this._ranges(runs[i]));
      if (stop < runs.length) this._frame(() => work(stop));
      else sets.forEach((ranges, i) => put(`${kind}-${i + 1}`, ranges, kind));
    };
    work(0);
  }

  /** @param {'dim' | 'looked' | 'chosen' | 'place'} kind @param {number} levels */
  clear(kind, levels) {
    this._newest.delete(kind);
    if (canPaint()) for (let i = 1; i <= levels; i++) CSS.highlights.delete(`${kind}-${i}`);
  }

  /** Messages below it have changed: their texts are looked up anew. */
  changed() {
    for (const [node, shown] of this._shown) if (!shown.fresh) this._shown.delete(node);
  }

  /** The part of a message under a text of the page; null: none. @param {Node} text @param {number} offset */
  placeOf(text, offset) {
    const node = text.parentElement?.closest(MESSAGE)?.getAttribute('data-node');
    const shown = node ? this._of(node) : null;
    const at = shown?.placeOf(text, offset) ?? -1;
    return node && at >= 0 ? { node, at } : null;
  }

  /** Whether a part can be seen on the page as text. @param {Part} part */
  shows(part) {
    return this._ranges(part).length > 0;
  }

  /** Scrolls to a part; to its message where the part is shown otherwise. @param {Part} part */
  async reveal(part) {
    if (part.node === null) return;
    await brought(part.node);
    const [range] = this._ranges(part);
    const element = range?.startContainer.parentElement ?? this._element(part.node);
    element?.scrollIntoView({ block: 'center' });
  }

  /** As `reveal`, and nothing where it can be seen already. @param {Part} part */
  bringNear(part) {
    const box = this._ranges(part)[0]?.getBoundingClientRect();
    const seen = this._place.getBoundingClientRect();
    if (!box || box.top < seen.top || box.bottom > seen.bottom) void this.reveal(part);
  }

  /** @param {Part} part @returns {Range[]} */
  _ranges({ node, at, length }) {
    return (node && this._of(node)?.ranges(at, at + length)) || [];
  }

  /** @param {string} node @returns {Shown | null} */
  _of(node) {
    const known = this._shown.get(node);
    const source = this._source(node);
    if (known?.source === source) return known ?? null;
    const text = this._element(node)?.querySelector(TEXT);
    if (!text || source === undefined) return null;
    const shown = new Shown(text, source);
    this._shown.set(node, shown);
    return shown;
  }

  /** By its place, which is found at once among however many. @param {string} node */
  _element(node) {
    return this._place.querySelector(`#${CSS.escape(placeId(node))} ${MESSAGE}`);
  }
}

/** @param {Part[]} parts @param {ArrayLike<number>} level */
function merged(parts, level) {
  /** @type {(Part & {level: number})[]} */
  const runs = [];
  parts.forEach((part, i) => {
    const last = runs.at(-1);
    if (!level[i]) return;
    if (last?.node === part.node && last.level === level[i] && last.at + last.length === part.at) last.length += part.length;
    else runs.push({ ...part, level: level[i] });
  });
  return runs;
}

const PRIORITIES = { dim: 0, place: 1, looked: 2, chosen: 3 };

/** @param {string} name @param {Range[]} ranges @param {keyof typeof PRIORITIES} kind */
function put(name, ranges, kind) {
  if (!ranges.length) {
    CSS.highlights.delete(name);
    return;
  }
  const highlight = new Highlight(...ranges);
  highlight.priority = PRIORITIES[kind];
  CSS.highlights.set(name, highlight);
}
