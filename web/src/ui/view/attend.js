import { effect } from '@preact/signals';
import { watchAwake } from '../../pwa/lifecycle.js';
import { WakeLock } from '../../pwa/wake_lock.js';
import { commandOf } from './shortcuts.js';

/** @typedef {import('../state/app.js').App} App */

/** Ties the page to what happens around it: keys, sleep and waking, the network. @param {App} app */
export function attend(app) {
  const lock = new WakeLock();
  const busy = () => app.replies.running.value !== null || app.connection.phase.value.name === 'downloading';
  effect(() => void (busy() ? lock.hold() : lock.release()));
  effect(() => app.traffic.watch(app.replies.running.value !== null || app.sheet.value === 'seen'));
  // What a tab that is gone has left can be put back here.
  effect(() => void (app.elsewhere.writing.value || app.library.recover()));
  tellOfReplies(app);
  watchAwake(() => app.wake(), { onHidden: () => app.hide(), onLeaving: () => app.leave() });
  document.addEventListener('keydown', (event) => pressed(app, event));
}

/** @param {App} app */
function tellOfReplies(app) {
  let was = false;
  effect(() => {
    const running = app.replies.running.value !== null;
    const ended = was && !running && app.replies.failure.peek() === null;
    was = running;
    if (!ended || !app.settings.peek().notify) return;
    // Without its file nothing is told; the reply is there all the same.
    void import('./device/notify.js').then(({ tellOfReply }) => tellOfReply()).catch(() => {});
  });
}

/** @param {App} app @param {KeyboardEvent} event */
function pressed(app, event) {
  const command = commandOf(event);
  if (!command || event.defaultPrevented) return;
  if (command === 'stop') {
    // With a dialog open Escape closes that first.
    if (app.sheet.value === null) app.replies.stop();
    // One that is still being loaded has no dialog that would close itself.
    else if (!document.querySelector('dialog')) app.sheet.value = null;
    return;
  }
  event.preventDefault();
  if (command === 'new_chat') begin(app);
  else if (command === 'settings') app.sheet.value = 'settings';
  else if (command === 'find') app.finding.value = app.library.chat.value.leaf !== null;
  else search(app);
}

/** @param {App} app */
function begin(app) {
  // A field that is saved when it is left belongs to the chat that is shown now.
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  app.newChat();
}

/** @param {App} app */
function search(app) {
  app.sheet.value = 'chats';
  // The field stands there after the next drawing.
  requestAnimationFrame(() => {
    const field = document.querySelector('.chats-search');
    if (field instanceof HTMLElement) field.focus();
  });
}
