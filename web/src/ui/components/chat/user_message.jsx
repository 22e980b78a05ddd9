import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { directionOf } from '../../view/direction.js';
import { fit } from '../../view/fit.js';
import { enterSends, sends } from '../../view/shortcuts.js';
import { Branches } from './branches.jsx';
import { useApp } from '../context.jsx';
import { CopyButton } from '../controls/copy_button.jsx';
import { IconButton } from '../controls/icon.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** @param {{node: ChatNode}} props */
export function UserMessage({ node }) {
  const app = useApp();
  const editing = app.editing.value === node.id;
  return (
    <article class="message from-user" aria-label="You">
      {editing ? (
        <Editor node={node} />
      ) : (
        <>
          <div class="bubble" dir="auto">
            {node.content}
          </div>
          <div class="actions">
            <Branches node={node} />
            <CopyButton text={node.content} label="Copy message" />
            <IconButton
              icon="edit"
              label="Edit message"
              disabled={app.fixed.value}
              onClick={() => (app.editing.value = node.id)}
            />
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
        aria-label="Edit message"
        dir={directionOf(text)}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div class="row">
        <p class="hint">{app.hindrance.value ?? 'Begins a branch; this version stays.'}</p>
        <button type="button" class="button quiet" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="button primary"
          disabled={app.hindrance.value !== null || !text.trim()}
          onClick={send}
        >
          Send
        </button>
      </div>
    </form>
  );
}
