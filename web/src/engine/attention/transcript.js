// The tokens of a prompt by the message to which they belong, or the chat template.

/** @typedef {import('../../text/pieces.js').Piece} Piece */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */
/** @typedef {import('../messages.js').Span} Span */
/**
 * A message in UTF-16 units of the text; `message` is its number, `at` what of its content stands before `start`.
 * @typedef {{start: number, end: number, role: Message['role'], message: number, at: number}} Place
 */

/**
 * The spans of a prompt in order. A message that the template changed is not found in it, and counts as
 * the template's.
 * @param {Piece[]} pieces
 * @param {Message[]} messages
 * @returns {Span[]}
 */
export function promptSpans(pieces, messages) {
  const texts = pieces.map((piece) => (piece.control ? '' : piece.text));
  const places = placesOf(messages, texts);
  /** @type {Span[]} */
  const spans = [];
  let [at, next] = [0, 0];
  pieces.forEach((piece, i) => {
    while (next < places.length && places[next].end <= at) next += 1;
    if (piece.control) spans.push({ ...tokensOf(piece), text: piece.text, kind: 'control' });
    else spans.push(...cut(piece, at, places, next));
    at += texts[i].length;
  });
  return spans;
}

/** @param {Message[]} messages @param {string[]} texts of the pieces */
function placesOf(messages, texts) {
  const text = texts.join('');
  const controls = new Set();
  let at = 0;
  for (const each of texts) {
    if (!each) controls.add(at);
    at += each.length;
  }
  /** @type {Place[]} */
  const places = [];
  let before = text.length;
  for (let message = messages.length - 1; message >= 0; message--) {
    const { role, content } = messages[message];
    const wanted = content.trim();
    const start = wanted ? lastPlace(text, wanted, before, controls) : -1;
    if (start < 0) continue;
    const at = content.length - content.trimStart().length;
    places.unshift({ start, end: start + wanted.length, role, message, at });
    before = start;
  }
  return places;
}

/**
 * The last place that ends `before`. One that a control token follows is preferred: what a template
 * writes between messages may have the same words as a short message.
 * @param {string} text @param {string} wanted @param {number} before @param {Set<number>} controls
 * @returns {number} -1: none
 */
function lastPlace(text, wanted, before, controls) {
  const from = before - wanted.length;
  const last = from < 0 ? -1 : text.lastIndexOf(wanted, from);
  let found = last;
  while (found > 0 && !controls.has(found + wanted.length)) found = text.lastIndexOf(wanted, found - 1);
  return found > 0 || (found === 0 && controls.has(wanted.length)) ? found : last;
}

/**
 * A piece may hold the end of one message and what follows it.
 * @param {Piece} piece @param {number} at where it begins @param {Place[]} places
 * @param {number} next the first place that ends behind `at`
 * @returns {Span[]}
 */
function cut(piece, at, places, next) {
  const end = at + piece.text.length;
  /** @type {Span[]} */
  const spans = [];
  const take = (/** @type {number} */ from, /** @type {number} */ to, /** @type {Partial<Span>} */ about) => {
    const text = piece.text.slice(from - at, to - at);
    if (to > from) spans.push({ ...tokensOf(piece), text, kind: 'template', ...about });
    return Math.max(from, to);
  };
  let done = at;
  for (let i = next; i < places.length && places[i].start < end; i++) {
    const { start, role, message, at: before } = places[i];
    done = take(done, start, {});
    done = take(done, Math.min(places[i].end, end), { kind: role, message, at: before + done - start });
  }
  take(done, end, {});
  return spans;
}

/** @param {Piece} piece */
function tokensOf({ start, stop }) {
  return { start, stop };
}
