import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { directionOf } from '../../view/direction.js';
import { fit } from '../../view/fit.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** @typedef {import('../../../chats/types').ChatNode} ChatNode */

/** A reply as text that can be changed, and gone on from. @param {{node: ChatNode}} props */
export default function Editor({ node }) {
  const app = useApp();
  const [text, setText] = useState(node.content);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const close = () => (app.editing.value = null);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(text.length, text.length);
  }, []);
  useLayoutEffect(() => fit(field.current), [text]);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  const blocked = app.fixed.value || !text.trim();
  return (
    <form class="editor" onSubmit={(event) => event.preventDefault()}>
      <textarea
        ref={field}
        class="text-field"
        aria-label={t('Change the reply')}
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
          class="button"
          disabled={blocked}
          onClick={() => app.steering.amend(node.id, text, false)}
        >
          {t('Save')}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={blocked || app.hindrance.value !== null}
          onClick={() => app.steering.amend(node.id, text, true)}
        >
          {t('Continue from here')}
        </button>
      </div>
    </form>
  );
}
