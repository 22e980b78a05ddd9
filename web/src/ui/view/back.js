import { effect } from '@preact/signals';

/** @typedef {import('../state/app.js').SheetName} SheetName */
/**
 * @typedef {object} Around
 * @property {() => boolean} beside whether what is open lies beside the chat and covers nothing; read in an effect
 * @property {Pick<History, 'state' | 'pushState' | 'back'>} [steps]
 * @property {Pick<Window, 'addEventListener'>} [page]
 */

/**
 * Has the browser's way back (a button, a key of the phone, a swipe) close the sheet that lies above the chat: an
 * open sheet is a step of the history of its own, and one that is closed otherwise leaves none.
 * @param {import('@preact/signals').Signal<SheetName | null>} sheet null: none
 * @param {Around} around
 */
export function closeOnBack(sheet, { beside, steps = history, page = window }) {
  // The way back takes a while, in which another sheet may be opened.
  let leaving = false;
  const settle = () => {
    const name = beside() ? null : sheet.value;
    if (leaving || (name === null) === (sheetOf(steps) === null)) return;
    if (name !== null) return steps.pushState({ sheet: name }, '');
    leaving = true;
    steps.back();
  };
  page.addEventListener('popstate', () => {
    if (!leaving) sheet.value = sheetOf(steps);
    leaving = false;
    settle();
  });
  effect(settle);
}

/** @param {{state: any}} steps @returns {SheetName | null} whose step this is */
function sheetOf({ state }) {
  return state?.sheet ?? null;
}
