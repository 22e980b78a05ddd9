// What the tint shows, as files.
import { dimLevels } from '../../state/tint/levels.js';
import { numbersOf } from '../../state/tint/numbers.js';
import { whose } from '../../words/tint.js';
import { levelOf } from '../../view/shares.js';
import { fragmentsOf, laidOut } from '../../view/tint/picture/layout.js';
import { measuring, pngOf } from '../../view/tint/picture/png.js';
import { svgOf } from '../../view/tint/picture/svg.js';

/** @typedef {import('../../state/tint/tint.js').Tint} Tint */
/** @typedef {import('../../state/tint/tinted_chat.js').TintedChat} TintedChat */

/**
 * @param {'JSON' | 'PNG' | 'SVG'} kind @param {Tint} tint @param {import('../../state/app.js').App} app
 * @returns {Promise<{name: string, blob: Blob}>}
 * @throws {import('../../../common/errors.js').AppError} picture_too_large
 */
export async function fileOf(kind, tint, app) {
  const chat = /** @type {TintedChat} */ (tint.chat.value);
  const name = `attention.${kind.toLowerCase()}`;
  if (kind === 'JSON') {
    const numbers = numbersOf(chat, tint.looked.value, await app.connection.engine.lookedRows(chat.chat.id));
    return { name, blob: new Blob([`${JSON.stringify(numbers, null, 1)}\n`], { type: 'application/json' }) };
  }
  const [layout, colours] = [layoutOf(chat, tint), coloursOf()];
  if (kind === 'PNG') return { name, blob: await pngOf(layout, colours) };
  return { name, blob: new Blob([svgOf(layout, colours)], { type: 'image/svg+xml' }) };
}

/** @param {TintedChat} chat @param {Tint} tint */
function layoutOf(chat, tint) {
  const looked = tint.looked.value;
  const dims = dimLevels(chat);
  const shares = looked?.shares;
  const parts = chat.pieces.map(({ node, at, length }, i) => ({
    node, at, length, dim: dims[i], chosen: looked?.piece === i,
    looked: shares ? levelOf(shares.pieces[i], shares.strongest) : 0,
  }));
  const said = [...chat.messages].sort(([, one], [, other]) => one.number - other.number).map(([node, message]) => ({
    title: whose(message),
    fragments: fragmentsOf(message.content, parts.filter((part) => part.node === node)),
  }));
  return laidOut(said, measuring());
}

/** Those of the page's theme. */
function coloursOf() {
  const style = getComputedStyle(document.documentElement);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    page: colour('page'),
    title: colour('muted'),
    dim: [0, 1, 2, 3].map((level) => colour(`dim-${level}`)),
    looked: [1, 2, 3, 4].map((level) => colour(`looked-${level}`)),
    onStrongest: colour('on-strongest'),
  };
}
