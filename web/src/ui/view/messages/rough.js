// About as many characters as a line of the page has, and pixels of one.
const LINE = 44;
const LINE_PX = 25;
const AROUND_PX = 60;

/**
 * A reply without the signs of markdown that stand around words: what stands there until it is drawn, and what is
 * read aloud.
 * @param {string} text
 */
export function rough(text) {
  return text
    .replace(/^```.*$/gm, '')
    .replace(/^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)/gm, '')
    .replace(/!?\[([^\][\n]{0,500})\]\([^()\s]{0,2000}\)/g, '$1')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/(^|[\s(])[*_](?=\S)|(?<=\S)[*_](?=[\s.,;:!?)]|$)/gm, '$1')
    .trim();
}

/** @param {string} text @returns {number} the height of a message in pixels, guessed */
export function guessedHeight(text) {
  let lines = 0;
  for (let at = 0; at <= text.length; ) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    lines += Math.max(1, Math.ceil((stop - at) / LINE));
    at = stop + 1;
  }
  return AROUND_PX + LINE_PX * lines;
}
