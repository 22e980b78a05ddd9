/** Awakenings of a page: a phone slept, the network was away, the page came back from a cache. */

/** @typedef {'online'|'visible'|'restored'|'resumed'} Reason */

/**
 * One callback for all of it. Browsers tell one awakening in several events, so it may be called more
 * than once.
 * @param {(reason: Reason) => void} awake
 * @param {{onOffline?: () => void, onHidden?: () => void, onLeaving?: () => void, window?: EventTarget,
 *   document?: EventTarget & {visibilityState: string}}} [options] onHidden: a moment to save, of a phone perhaps
 *   the last one; onLeaving: another page takes the place of this one, and what does not end at once does not end
 * @returns {() => void} stops it
 */
export function watchAwake(awake, options = {}) {
  const { onOffline = () => {}, onHidden = () => {}, onLeaving = onHidden } = options;
  const { window = globalThis.window, document = globalThis.document } = options;
  const stop = new AbortController();
  /** @param {EventTarget} target @param {string} type @param {(event: Event) => void} does */
  const on = (target, type, does) => target.addEventListener(type, does, { signal: stop.signal });
  on(window, 'online', () => awake('online'));
  on(window, 'offline', onOffline);
  on(window, 'pagehide', onLeaving);
  on(window, 'pageshow', (event) => {
    if (/** @type {PageTransitionEvent} */ (event).persisted) awake('restored');
  });
  on(document, 'resume', () => awake('resumed'));
  on(document, 'visibilitychange', () => {
    if (document.visibilityState === 'visible') awake('visible');
    else onHidden();
  });
  return () => stop.abort();
}
