// What the tint does to the conversation, and what a tap there does to the tint.
import { useEffect, useMemo } from 'preact/hooks';
import { untracked, useSignalEffect } from '@preact/signals';
import { dimLevels } from '../../state/tint/levels.js';
import { levelOf } from '../../view/shares.js';
import { DIM_LEVELS, LOOKED_LEVELS, Paint } from '../../view/tint/paint.js';
import { textAt } from '../../view/tint/shown.js';

/** @typedef {import('../../state/app.js').App} App */
/** @typedef {import('../../state/tint/tint.js').Tint} Tint */

const NOT_TEXT = 'a, button, input, textarea, [role=button], .editor';

/** @param {App} app @param {Tint} tint @returns {Paint} */
export function usePainting(app, tint) {
  const place = /** @type {HTMLElement} */ (document.getElementById('messages'));
  const paint = useMemo(() => new Paint(place, (node) => app.library.chat.value.nodes[node]?.content), []);
  useSignalEffect(() => {
    // While a reply is made the chat changes with every save of it.
    const chat = app.library.chat.value;
    if (!app.busyHere.value) untracked(() => void tint.show(chat));
  });
  useSignalEffect(() => dim(paint, tint));
  useSignalEffect(() => colour(paint, tint));
  useEffect(() => watched(place, () => {
    paint.changed();
    dim(paint, tint);
    colour(paint, tint);
  }), []);
  useEffect(() => tapped(place, (x, y) => choose(paint, tint, x, y)), []);
  useEffect(() => () => {
    paint.clear('dim', DIM_LEVELS);
    unlooked(paint);
  }, []);
  return paint;
}

/** @param {Paint} paint @param {Tint} tint */
function dim(paint, tint) {
  const chat = tint.chat.value;
  if (chat) paint.paint('dim', DIM_LEVELS, chat.pieces, dimLevels(chat));
  else paint.clear('dim', DIM_LEVELS);
}

/** @param {Paint} paint @param {Tint} tint */
function colour(paint, tint) {
  const [chat, looked] = [tint.chat.value, tint.looked.value];
  if (!chat || !looked) {
    unlooked(paint);
    return;
  }
  const { shares, piece } = looked;
  const levels = chat.pieces.map((_, i) => (shares ? levelOf(shares.pieces[i], shares.strongest) : 0));
  paint.paint('looked', LOOKED_LEVELS, chat.pieces, levels);
  paint.paint('chosen', 1, [chat.pieces[piece]], [1]);
}

/** @param {Paint} paint */
function unlooked(paint) {
  paint.clear('looked', LOOKED_LEVELS);
  paint.clear('chosen', 1);
}

/** @param {Paint} paint @param {Tint} tint @param {number} x @param {number} y */
function choose(paint, tint, x, y) {
  const text = textAt(x, y);
  const part = text && paint.placeOf(text.node, text.offset);
  const piece = part ? (tint.chat.value?.pieceAt(part.node, part.at) ?? -1) : -1;
  if (piece >= 0) void tint.choose(piece);
}

/** Tells once a frame that messages have other texts. @param {HTMLElement} place @param {() => void} changed */
function watched(place, changed) {
  let asked = false;
  const run = () => {
    asked = false;
    changed();
  };
  const watch = new MutationObserver((all) => {
    // What a reply that is being made writes is tinted when it is whole.
    if (asked || all.every(({ target }) => isLive(target))) return;
    asked = true;
    requestAnimationFrame(run);
  });
  watch.observe(place, { childList: true, subtree: true });
  return () => watch.disconnect();
}

/** @param {Node} node */
function isLive(node) {
  const element = node instanceof Element ? node : node.parentElement;
  return Boolean(element?.closest('[aria-busy="true"].message'));
}

/** Tells of taps on text; one that selects is none. @param {HTMLElement} place @param {(x: number, y: number) => void} tap */
function tapped(place, tap) {
  const clicked = (/** @type {MouseEvent} */ event) => {
    const target = /** @type {Element} */ (event.target);
    if (target.closest(NOT_TEXT) || !getSelection()?.isCollapsed) return;
    tap(event.clientX, event.clientY);
  };
  place.addEventListener('click', clicked);
  return () => place.removeEventListener('click', clicked);
}
