/** Tokens of marked as our tree. What is not known here is shown as the text it was written as. */
import { resolved, withoutControls as shown } from './entities.js';
import { safeTarget } from './links.js';

/** @typedef {import('marked').Token} Token */
/** @typedef {import('marked').Tokens.Generic} Generic */
/** @typedef {import('./types').Block} Block */
/** @typedef {import('./types').Inline} Inline */

const MOST_COLUMNS = 64;
const LONGEST_LANGUAGE = 40;

/** @param {Token[]} tokens @returns {Block[]} */
export function blocksOf(tokens) {
  return tokens.flatMap((token) => blockOf(/** @type {Generic} */ (token)));
}

/** @param {Generic} token @returns {Block[]} */
function blockOf(token) {
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return [];
    case 'paragraph':
    case 'text':
      return [{ type: 'paragraph', children: inlinesOf(token.tokens ?? [textToken(token.text)]) }];
    case 'heading':
      return [{ type: 'heading', level: token.depth, children: inlinesOf(token.tokens) }];
    case 'code':
      return [codeBlock(token.lang ?? '', token.text, false)];
    case 'list':
      return [listOf(token)];
    case 'table':
      return [tableOf(token)];
    case 'blockquote':
      return [{ type: 'quote', children: blocksOf(token.tokens ?? []) }];
    case 'hr':
      return [{ type: 'rule' }];
    default:
      return [{ type: 'paragraph', children: [text(token.raw)] }];
  }
}

/**
 * @param {string} info what stands behind the fence
 * @param {string} source @param {boolean} open @returns {Block}
 */
export function codeBlock(info, source, open) {
  const lang = /^[\w+#.-]*/.exec(info)?.[0].slice(0, LONGEST_LANGUAGE) ?? '';
  return { type: 'code', lang, text: shown(source), open };
}

/** @param {Generic} token @returns {Block} */
function listOf(token) {
  const items = token.items.map((/** @type {Generic} */ item) => ({
    checked: item.task ? Boolean(item.checked) : null,
    children: blocksOf(item.tokens ?? []),
  }));
  const start = typeof token.start === 'number' && token.start < 1e9 ? token.start : 1;
  return { type: 'list', ordered: Boolean(token.ordered), start, tight: !token.loose, items };
}

/** @param {Generic} token @returns {Block} */
function tableOf(token) {
  /** @param {Generic[]} cells */
  const cellsOf = (cells) => cells.slice(0, MOST_COLUMNS).map((cell) => inlinesOf(cell.tokens));
  return {
    type: 'table',
    align: token.align.slice(0, MOST_COLUMNS),
    header: cellsOf(token.header),
    rows: token.rows.map(cellsOf),
  };
}

/** @param {Token[]|undefined} tokens @returns {Inline[]} */
export function inlinesOf(tokens) {
  /** @type {Inline[]} */
  const inlines = [];
  for (const token of tokens ?? []) {
    const inline = inlineOf(/** @type {Generic} */ (token));
    const last = inlines[inlines.length - 1];
    // Marked cuts text where a delimiter might have been.
    if (inline.type === 'text' && last?.type === 'text') last.text += inline.text;
    else inlines.push(inline);
  }
  return inlines;
}

/** @param {Generic} token @returns {Inline} */
function inlineOf(token) {
  switch (token.type) {
    case 'text':
      return text(resolved(token.text));
    case 'escape':
      return text(token.text);
    case 'strong':
    case 'em':
      return { type: token.type, children: inlinesOf(token.tokens) };
    case 'del':
      return { type: 'strike', children: inlinesOf(token.tokens) };
    case 'codespan':
      return { type: 'code', text: shown(token.text) };
    case 'br':
      return { type: 'break' };
    case 'link':
    case 'image':
      return linkOf(token);
    default:
      return text(token.raw);
  }
}

/**
 * A picture would be a request to somebody else, so it becomes a link.
 * @param {Generic} token @returns {Inline}
 */
function linkOf(token) {
  const href = safeTarget(token.autolink ? token.href : resolved(token.href));
  if (href === null) return text(token.raw);
  const children = token.type === 'image' ? [text(token.text || href)] : inlinesOf(token.tokens);
  return { type: 'link', href, children: children.length ? children : [text(href)] };
}

/** @param {string} source @returns {Inline} */
function text(source) {
  return { type: 'text', text: shown(source) };
}

/** @param {string} source @returns {Token} */
function textToken(source) {
  return { type: 'text', raw: source, text: source };
}
