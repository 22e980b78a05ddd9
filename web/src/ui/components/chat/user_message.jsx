import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { directionOf } from '../../view/direction.js';
import { fit } from '../../view/fit.js';
import { enterSends, sends } from '../../view/shortcuts.js';
import { Branches } from './branches.jsx';
import { Bubble } from './bubble.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
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
  const [text, setText] = useState(node.content);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const close = () => (app.editing.value = null);
  const send = () => app.edit(node.id, text);
  // Before anything can be typed: a caret that is set later would move under the writer's hands.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useLayoutEffect(() => fit(field.current), [text]);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    } else if (sends(event, enterSends(app.settings.value.enter))) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form class="editor" onSubmit={(event) => event.preventDefault()}>
      <textarea
        ref={field}
        class="text-field"
        aria-label={t('Edit message')}
        dir={directionOf(text)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div class="row">
        <p class="hint">{app.hindrance.value ?? t('Begins a branch; this version stays.')}</p>
        <button type="button" class="button quiet" onClick={close}>
          {t('Cancel')}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={app.hindrance.value !== null || !text.trim()}
          onClick={send}
        >
          {t('Send')}
        </button>
      </div>
    </form>
  );
}
