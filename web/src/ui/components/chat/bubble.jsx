import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { whenDrawn } from '../../view/messages/nearby.js';
import { t, tn } from '../../words/languages/words.js';


const MOST_CHARACTERS = 1500;
const MOST_LINES = 18;

/**
 * What a person wrote; of a long text the beginning, until all of it is asked for.
 * @param {{text: string, children: import('preact').ComponentChildren}} props children: the text as it is shown
 */
export function Bubble({ text, children }) {
  const bubble = useRef(/** @type {HTMLDivElement | null} */ (null));
  const open = useSignal(false);
  const long = isLong(text);
  const folded = long && !open.value;
  const unfold = () => (open.value = true);
  // A place in it was jumped to.
  useEffect(() => (folded && bubble.current ? whenDrawn(bubble.current, unfold) : undefined), [folded]);
  return (
    <>
      {/* The browser's own search scrolls to what it finds in here. */}
      <div
        ref={bubble}
        class={folded ? 'bubble folded' : 'bubble'}
        dir="auto"
        onScroll={folded ? unfold : undefined}
      >
        {children}
      </div>
      {long && (
        <button
          type="button"
          class="button quiet fold"
          aria-expanded={!folded}
          onClick={() => (open.value = folded)}
        >
          {folded ? tn(text.length, 'Show all {n} character', 'Show all {n} characters') : t('Show less')}
        </button>
      )}
    </>
  );
}

/** @param {string} text */
function isLong(text) {
  if (text.length > MOST_CHARACTERS) return true;
  let lines = 1;
  for (const letter of text) if (letter === '\n') lines += 1;
  return lines > MOST_LINES;
}
