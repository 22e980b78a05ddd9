import { siblings } from '../../../chats/tree.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** Goes through the versions of a message. @param {{node: import('../../../chats/types').ChatNode}} props */
export function Branches({ node }) {
  const app = useApp();
  const { ids, index } = siblings(app.library.chat.value, node.id);
  if (ids.length < 2) return null;
  const busy = app.fixed.value;
  return (
    <span class="branches" role="group" aria-label={t('Version {at} of {all}', { at: index + 1, all: ids.length })}>
      <IconButton
        icon="back"
        label={t('Version before')}
        disabled={busy || index === 0}
        onClick={() => app.branch(node.id, -1)}
      />
      <span aria-hidden="true">
        {index + 1}/{ids.length}
      </span>
      <IconButton
        icon="next"
        label={t('Next version')}
        disabled={busy || index === ids.length - 1}
        onClick={() => app.branch(node.id, 1)}
      />
    </span>
  );
}
