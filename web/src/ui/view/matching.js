import { signal } from '@preact/signals';

/**
 * Whether a media query holds, now and later.
 * @param {string} query
 * @returns {import('@preact/signals').ReadonlySignal<boolean>}
 */
export function matching(query) {
  const list = matchMedia(query);
  const holds = signal(list.matches);
  list.addEventListener('change', () => (holds.value = list.matches));
  return holds;
}
