import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** Whether a policy may leave a message out. @param {{node: import('../../../chats/types').ChatNode}} props */
export function PinButton({ node }) {
  const app = useApp();
  const pinned = node.pinned === true;
  return (
    <IconButton
      class={pinned ? 'pinned' : ''}
      icon="pin"
      label={pinned ? t('Unpin message') : t('Pin message')}
      disabled={app.fixed.value}
      onClick={() => app.room.pin(node.id, !pinned)}
    />
  );
}
