// Messages as they are kept and as they go out: what is dropped of them and how bright they are follows their text.
import { keptUnits, unitsOf } from '../../../chats/brightness/kept.js';
import { CodePoints } from '../../../chats/context/code_points.js';
import { joined } from '../../../chats/context/ranges.js';

/** @typedef {import('../../../chats/types').Kept} Kept */
/** @typedef {import('../../../chats/types').Range} Range */
/** @typedef {import('../../../chats/context/spoken.js').Said} Said */
/** @typedef {import('../../../redaction/alignment.js').Alignment} Alignment */
/** @typedef {import('../../../redaction/redactor.js').Redacted} Redacted */

/** @param {Kept} message @param {Redacted} made @returns {Kept} */
export function keptAs({ role, content, dropped, pinned, brightness }, { text, alignment }) {
  const ranges = dropped?.length ? rangesAs(dropped, content, text, alignment) : [];
  const bright = brightness ? keptUnits(text, alignment.carried(unitsOf(content, brightness))) : '';
  return { role, content: text, ...(ranges.length && { dropped: ranges }), ...(pinned && { pinned }), ...(bright && { brightness: bright }) };
}

/** @param {readonly Said[]} messages @param {readonly Redacted[]} made @returns {import('../../../../types/gatelink').Message[]} */
export function sentAs(messages, made) {
  return messages.map(({ role }, i) => ({ role, content: made[i].text }));
}

/**
 * Ranges of one text, in code points, as those of the other; what has a part of a replaced piece has all of it.
 * @param {readonly Range[]} ranges @param {string} from @param {string} to @param {Alignment} alignment of the two @returns {Range[]}
 */
export function rangesAs(ranges, from, to, alignment) {
  const [before, after] = [new CodePoints(from), new CodePoints(to)];
  const units = (/** @type {number} */ point) => before.slice(0, point).length;
  const found = ranges.map(([start, stop]) => after.before(alignment.around(units(start), units(stop))));
  return joined(found.filter(([start, stop]) => start < stop).map(([start, stop]) => [start, stop]));
}
