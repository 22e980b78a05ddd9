import { LINE, MARGIN, SIZE } from './layout.js';

/** Of the page, of text by dimness, behind text by level, on the strongest of those. @typedef {{page: string, title: string, dim: string[], looked: string[], onStrongest: string}} Colours */

const FONT = 'system-ui, sans-serif';
const SPECIAL = /** @type {Record<string, string>} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' });
// What XML has no way to write.
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** @param {string} text */
const escaped = (text) => text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (sign) => SPECIAL[sign]);

/**
 * A layout as an SVG document: text that can be searched and read aloud.
 * @param {import('./layout.js').Layout} layout @param {Colours} colours
 * @returns {string}
 */
export function svgOf({ width, height, titles, words }, colours) {
  const boxes = words.filter(({ looked, chosen }) => looked || chosen).map((word) => boxOf(word, colours));
  const texts = words.filter(({ text }) => text.trim()).map((word) =>
    `<text x="${rounded(word.x)}" y="${word.y}" fill="${inkOf(word, colours)}">${escaped(word.text)}</text>`);
  const heads = titles.map(({ text, y }) =>
    `<text x="${MARGIN}" y="${y}" fill="${colours.title}" font-weight="600">${escaped(text)}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="${FONT}" font-size="${SIZE}">`,
    `<rect width="${width}" height="${height}" fill="${colours.page}"/>`,
    ...boxes, ...heads, ...texts, '</svg>\n',
  ].join('');
}

/** @param {import('./layout.js').Word} word @param {Colours} colours */
export function inkOf({ looked, dim }, { dim: inks, looked: levels, onStrongest }) {
  if (looked === levels.length) return onStrongest;
  return inks[looked ? 0 : dim];
}

/** @param {import('./layout.js').Word} word @param {Colours} colours */
function boxOf({ x, y, width, looked, chosen }, colours) {
  const place = `x="${rounded(x)}" y="${y - SIZE - 1}" width="${rounded(width)}" height="${LINE - 3}"`;
  const fill = looked ? colours.looked[looked - 1] : 'none';
  return `<rect ${place} fill="${fill}"${chosen ? ` stroke="${colours.dim[0]}" stroke-width="2"` : ''}/>`;
}

/** @param {number} value */
const rounded = (value) => Math.round(100 * value) / 100;
