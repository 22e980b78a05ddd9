import { useEffect, useMemo, useState } from 'preact/hooks';

/** @typedef {import('../../markdown/types').Block} Block */
/** @typedef {(text: string, how: {streaming: boolean}) => Block[]} Parse */

const SAMPLE =
  'A **b** *c* `d` ~~e~~ [f](https://g) &amp; <i> \\(h\\)\n\n' +
  '# h\n\n1. i\n   - j\n\n> k\n\n| l |\n|---|\n| m |\n\n---\n\n```n\no\n```';
/** @type {readonly Block[]} */
const NONE = [];

/** @type {Parse | null} */
let parse = null;
/** @type {Promise<void> | null} */
let loading = null;

/**
 * The blocks of a reply. What reads markdown is loaded with the first reply that is shown, and not with the page;
 * until it is there nothing is shown, and where it cannot be had the text as it was written.
 * @param {string} text @param {boolean} streaming
 * @returns {readonly Block[]}
 */
export function useBlocks(text, streaming) {
  const [, redraw] = useState(0);
  useEffect(() => {
    if (parse) return undefined;
    let here = true;
    void load().then(() => here && redraw(1));
    return () => (here = false);
  }, []);
  const read = parse;
  return useMemo(() => read?.(text, { streaming }) ?? NONE, [text, streaming, read]);
}

/** @param {() => Promise<{parseMarkdown: Parse}>} [fetched] */
export function load(fetched = () => import('../../markdown/markdown.js')) {
  loading ??= fetched().then(
    ({ parseMarkdown }) => {
      // The first time takes the browser many times as long as later ones, and the first token has not come yet.
      parseMarkdown(SAMPLE, { streaming: true });
      parse = parseMarkdown;
    },
    () => {
      parse = asWritten;
    },
  );
  return loading;
}

/** @type {Parse} */
function asWritten(text) {
  const lines = text.split('\n').map((line) => /** @type {const} */ ({ type: 'text', text: line }));
  return [{ type: 'paragraph', children: lines.flatMap((line) => [line, /** @type {const} */ ({ type: 'break' })]) }];
}
