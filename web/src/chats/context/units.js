/**
 * The units that a message is left out by: sentences, blocks of code, tables, whole results. They are
 * split_client.chat.context.units to the letter, and tests/vectors/context.json holds both to the same places.
 */
import { CodePoints } from './code_points.js';

/** @typedef {'sentence' | 'code' | 'table' | 'result'} Kind */
/** `start` to `stop` of a message's text, in code points. @typedef {{start: number, stop: number, kind: Kind}} Unit */

const FENCE = /^[ \t]{0,3}(`{3,}|~{3,})/;
const BLANK = /^[ \t\r]*\n?$/;
const TABLE = /^[ \t]*\|/;
const HEADING = /^[ \t]{0,3}#{1,6}[ \t]/;
// A line that begins a unit of its own: of a list, a heading, a quote.
const MARK = /^[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|>)/;
// What ends a sentence, with what closes it and the white space that belongs to it. A group that is looked ahead for
// and then repeated gives nothing back, so that it takes time linear in any text.
const END = new RegExp(
  `(?<![.!?…])(?=([.!?…]+))\\1(?=(["'”’»)\\]]*))\\2(?=([ \\t\\r\\n]+))\\3(?![a-zß-öø-ÿ])` +
    '|(?=([。！？]+))\\4(?=([”’」』）]*))\\5(?=([ \\t\\r\\n]*))\\6',
  'g',
);
// A full stop behind one of these ends no sentence: initials, abbreviations, numbers of a list.
const NO_END = new RegExp(
  '(?:^|[ \\t\\r\\n(])(?:[A-Za-z]|[a-z]\\.[a-z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs)\\n?$' +
    '|(?:^|\\n)[ \\t]*[0-9]{1,9}\\n?$',
);
const WINDOW = 16;

/**
 * The units of its text: one behind the other, together all of it.
 * @param {{role: string, content: string}} message @returns {Unit[]}
 */
export function unitsOf({ role, content }) {
  if (!content) return [];
  const points = new CodePoints(content);
  if (role === 'tool') return [{ start: 0, stop: points.length, kind: 'result' }];
  const found = [...unitsIn(content)];
  const stops = points.before(found.map(({ stop }) => stop));
  return found.map(({ kind }, index) => ({ start: index ? stops[index - 1] : 0, stop: stops[index], kind }));
}

/** In UTF-16 units. @param {string} content */
function* unitsIn(content) {
  for (const { start, stop, kind } of blocks(content)) {
    const ends = kind === 'sentence' ? endsIn(content.slice(start, stop)).map((end) => start + end) : [];
    let begun = start;
    for (const end of [...ends, stop]) {
      if (end <= begun) continue;
      yield { stop: end, kind };
      begun = end;
    }
  }
}

/**
 * Runs of lines of one kind; blank lines go with what stands before them.
 * @param {string} content @returns {Generator<Unit>}
 */
function* blocks(content) {
  let [start, at, fence] = [0, 0, ''];
  /** @type {Kind | null} */
  let kind = null;
  for (const line of lines(content)) {
    const opened = fence ? null : FENCE.exec(line);
    const wanted = fence ? null : opened ? 'code' : kindOf(line);
    if (fence) fence = closes(line, fence) ? '' : fence;
    else fence = opened?.[1] ?? '';
    if (wanted !== null && (wanted === 'code' || wanted !== kind)) {
      if (kind !== null) {
        yield { start, stop: at, kind };
        start = at;
      }
      kind = wanted;
    }
    at += line.length;
  }
  if (at > start) yield { start, stop: at, kind: kind ?? 'sentence' };
}

/** Of a line outside code; null: it is blank. @param {string} line @returns {Kind | null} */
function kindOf(line) {
  if (BLANK.test(line)) return null;
  return TABLE.test(line) ? 'table' : 'sentence';
}

/** @param {string} line @param {string} fence */
function closes(line, fence) {
  const found = FENCE.exec(line);
  if (!found || found[1][0] !== fence[0] || found[1].length < fence.length) return false;
  return BLANK.test(line.slice(found[0].length));
}

/** Where the sentences and the lines of a list end, in order. @param {string} text */
function endsIn(text) {
  /** @type {Set<number>} */
  const ends = new Set();
  for (const match of text.matchAll(END)) if (!goesOn(text, match)) ends.add(match.index + match[0].length);
  let [at, before] = [0, ''];
  for (const line of lines(text)) {
    const apart = () => BLANK.test(before) || HEADING.test(before) || MARK.test(line);
    if (at && !BLANK.test(line) && apart()) ends.add(at);
    [at, before] = [at + line.length, line];
  }
  return [...ends].sort((a, b) => a - b);
}

/** @param {string} text @param {RegExpExecArray} match */
function goesOn(text, match) {
  if (match[1] !== '.') return false;
  const at = match.index;
  const window = text.slice(Math.max(0, at - WINDOW), at);
  // The beginning of a window is no beginning of the text.
  return NO_END.test(at > WINDOW ? `x${window}` : window);
}

/** With their line feeds. @param {string} content */
function* lines(content) {
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf('\n', at) + 1 || content.length;
    yield content.slice(at, end);
    at = end;
  }
}
