/** @typedef {'search' | 'find' | 'new_chat' | 'stop' | 'settings'} Command */

/**
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, shiftKey: boolean, altKey: boolean,
 *   isComposing?: boolean}} event
 * @returns {Command | null}
 */
export function commandOf(event) {
  if (event.isComposing || event.altKey) return null;
  if (event.key === 'Escape') return 'stop';
  if (!event.ctrlKey && !event.metaKey) return null;
  const key = event.key.toLowerCase();
  if (key === 'k') return event.shiftKey ? 'new_chat' : 'search';
  if (key === 'f' && event.shiftKey) return 'find';
  return key === ',' ? 'settings' : null;
}

// Else it is drawn on the screen, where Shift+Enter is out of reach.
const WITH_KEYBOARD = '(hover: hover) and (pointer: fine)';

/** @returns {boolean} whether whoever types has keys */
export function hasKeyboard() {
  return matchMedia(WITH_KEYBOARD).matches;
}

/** @param {import('../../settings/types').Settings['enter']} enter @returns {boolean} whether Enter sends */
export function enterSends(enter, keyboard = hasKeyboard) {
  return enter === 'auto' ? keyboard() : enter === 'sends';
}

/**
 * Whether a key in the composer sends what stands there.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, shiftKey: boolean, isComposing?: boolean}} event
 * @param {boolean} enterSends else only with Ctrl or Cmd
 */
export function sends(event, enterSends) {
  if (event.key !== 'Enter' || event.isComposing) return false;
  if (event.ctrlKey || event.metaKey) return true;
  return enterSends && !event.shiftKey;
}
