import { SHARED, takeShared } from '../../../pwa/shared.js';

/**
 * Puts what another app has shared into the message field of a new chat; it is sent when the person sends it.
 * @param {import('../../state/app.js').App} app
 * @param {{place?: Pick<Location, 'search' | 'origin' | 'pathname'>, steps?: Pick<History, 'state' | 'replaceState'>,
 *   kept?: CacheStorage}} [page]
 */
export async function takeWhatIsShared(app, { place = location, steps = history, kept = globalThis.caches } = {}) {
  if (!new URLSearchParams(place.search).has(SHARED)) return;
  // A reload must not begin another chat.
  steps.replaceState(steps.state, '', place.pathname);
  // The chat that was open last comes back first.
  await app.opened;
  const text = kept ? await takeShared(kept, place.origin).catch(() => '') : '';
  if (!text) return;
  app.newChat();
  const before = app.draft.value;
  app.type(before.trim() ? `${before}\n\n${text}` : text);
}
