import { effect } from '@preact/signals';
import { matching } from './matching.js';

const PAGE = { light: '#fcfcfa', dark: '#16181a' };

/**
 * Keeps the page in the theme that the settings, or with 'auto' the device, ask for, and its text in their size.
 * @param {import('@preact/signals').Signal<Pick<import('../../settings/types').Settings, 'theme' | 'text_size'>>} settings
 */
export function followTheme(settings) {
  const dark = matching('(prefers-color-scheme: dark)');
  effect(() => {
    const { theme, text_size: size } = settings.value;
    const shown = theme === 'auto' ? (dark.value ? 'dark' : 'light') : theme;
    document.documentElement.dataset.theme = shown;
    document.documentElement.dataset.text = size;
    const metas = document.querySelectorAll('meta[name="theme-color"]');
    for (const meta of metas) meta.setAttribute('content', PAGE[shown]);
  });
}
