import { parseMarkdown } from '../../markdown/markdown.js';

const SAMPLE =
  'A **b** *c* `d` ~~e~~ [f](https://g) &amp; <i>\n\n' +
  '# h\n\n1. i\n   - j\n\n> k\n\n| l |\n|---|\n| m |\n\n---\n\n```n\no\n```';

/**
 * Reads a text while the page has nothing to do: the first time takes the browser many times as long as
 * later ones, and that should not be the first frame of a reply.
 * @param {(run: () => void) => unknown} [idle]
 */
export function warmMarkdown(idle = globalThis.requestIdleCallback ?? ((run) => setTimeout(run, 500))) {
  idle(() => void parseMarkdown(SAMPLE, { streaming: true }));
}
