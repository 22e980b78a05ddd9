import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { directionOf } from '../../view/direction.js';
import { fit } from '../../view/fit.js';
import { enterSends, sends } from '../../view/shortcuts.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/**
 * A message as text that can be changed; Escape leaves it as it was.
 * @param {{node: import('../../../chats/types').ChatNode, label: string, onEnter?: (text: string) => void,
 *   buttons: (text: string) => import('preact').ComponentChildren}} props onEnter: what the key that sends does;
 *   buttons: what can be done with the text, beside "Cancel"
 */
export function EditorForm({ node, label, onEnter, buttons }) {
  const app = useApp();
  const [text, setText] = useState(node.content);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const close = () => (app.editing.value = null);
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
    } else if (onEnter && sends(event, enterSends(app.settings.value.enter))) {
      event.preventDefault();
      onEnter(text);
    }
  };
  return (
    <form class="editor" onSubmit={(event) => event.preventDefault()}>
      <textarea
        ref={field}
        class="text-field"
        aria-label={label}
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
        {buttons(text)}
      </div>
    </form>
  );
}
