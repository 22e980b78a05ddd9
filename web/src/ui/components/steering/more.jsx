import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** Changes a reply, takes a message out. @param {{node: ChatNode, close: () => void}} props */
export default function More({ node, close }) {
  const app = useApp();
  const then = (/** @type {() => void} */ step) => () => {
    close();
    step();
  };
  return (
    <span class="row more-actions">
      {node.role === 'assistant' && (
        <button
          type="button"
          class="button quiet"
          disabled={app.fixed.value}
          onClick={then(() => (app.editing.value = node.id))}
        >
          {t('Change the reply')}
        </button>
      )}
      <button
        type="button"
        class="button quiet"
        disabled={app.fixed.value}
        onClick={then(() => app.steering.remove(node.id))}
      >
        {node.role === 'user' ? t('Take out this message') : t('Take out this reply')}
      </button>
    </span>
  );
}
