import { effect } from '@preact/signals';
import { matching } from './matching.js';

const PAGE = { light: '#fcfcfa', dark: '#16181a' };

/**
 * Keeps the page in the theme that the settings, or with 'auto' the device, ask for.
 * @param {import('@preact/signals').Signal<{theme: 'auto' | 'light' | 'dark'}>} settings
 */
export function followTheme(settings) {
  const dark = matching('(prefers-color-scheme: dark)');
  effect(() => {
    const { theme } = settings.value;
    const shown = theme === 'auto' ? (dark.value ? 'dark' : 'light') : theme;
    document.documentElement.dataset.theme = shown;
    const metas = document.querySelectorAll('meta[name="theme-color"]');
    for (const meta of metas) meta.setAttribute('content', PAGE[shown]);
  });
}
