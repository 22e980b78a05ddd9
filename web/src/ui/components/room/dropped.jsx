import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../chats/types').Range} Range */

/**
 * Text of a message that does not travel: it stays where it stood, and can be had back.
 * @param {{node: string, range: Range, children: import('preact').ComponentChildren}} props
 */
export function Dropped({ node, range, children }) {
  const app = useApp();
  return (
    <div class="dropped">
      <s>
        <span class="unseen">{t('Left out:')} </span>
        {children}
      </s>
      <button
        type="button"
        class="button quiet"
        disabled={app.fixed.value}
        onClick={() => app.room.restore(node, range)}
      >
        {t('Bring back')}
      </button>
    </div>
  );
}
