import { Branches } from './branches.jsx';
import { Bubble } from './bubble.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { EditorForm } from './editor_form.jsx';
import { CopyButton } from '../controls/copy_button.jsx';
import { IconButton } from '../controls/icon.jsx';
import { UserText } from '../room/message_text.jsx';
import { PinButton } from '../room/pin_button.jsx';
import { More } from '../steering/buttons.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** @param {{node: ChatNode}} props */
export function UserMessage({ node }) {
  const app = useApp();
  const editing = app.editing.value === node.id;
  return (
    <article class="message from-user" aria-label={t('You')} data-node={node.id}>
      {editing ? (
        <Editor node={node} />
      ) : (
        <>
          <Bubble text={node.content}>
            <UserText node={node} />
          </Bubble>
          <div class="actions">
            <Branches node={node} />
            <PinButton node={node} />
            <CopyButton text={node.content} label={t('Copy message')} />
            <IconButton
              icon="edit"
              label={t('Edit message')}
              disabled={app.fixed.value}
              onClick={() => (app.editing.value = node.id)}
            />
            <More node={node} />
          </div>
        </>
      )}
    </article>
  );
}

/** @param {{node: ChatNode}} props */
function Editor({ node }) {
  const app = useApp();
  const send = (/** @type {string} */ text) => void app.edit(node.id, text);
  return (
    <EditorForm
      node={node}
      label={t('Edit message')}
      onEnter={send}
      buttons={(text) => (
        <button
          type="button"
          class="button primary"
          disabled={app.hindrance.value !== null || !text.trim()}
          onClick={() => send(text)}
        >
          {t('Send')}
        </button>
      )}
    />
  );
}
