import { useLayoutEffect, useRef } from 'preact/hooks';
import { directionOf } from '../../view/direction.js';
import { fit } from '../../view/fit.js';
import { enterSends, hasKeyboard, sends } from '../../view/shortcuts.js';
import { AttachButton, AttachedFiles } from './attached.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Lazy } from '../lazy.jsx';
import { Queued } from './queued.jsx';
import { StatusLine } from './status_line.jsx';

const goingOut = () => import('../redaction/panel.jsx').then(({ GoingOut }) => ({ default: GoingOut }));

/** Where a message is written; it grows with it. */
export function Composer() {
  const app = useApp();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const draft = app.draft.value;
  const hindrance = app.hindrance.value;
  const id = app.library.chat.value.id;
  useLayoutEffect(() => fit(field.current), [draft]);
  useLayoutEffect(() => {
    // On a phone the keyboard would cover half of the page that was just opened.
    if (hasKeyboard()) field.current?.focus({ preventScroll: true });
  }, [id]);
  const send = () => {
    app.send(draft);
    field.current?.focus({ preventScroll: true });
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!sends(event, enterSends(app.settings.value.enter))) return;
    event.preventDefault();
    send();
  };
  return (
    <div class="foot-in">
      <Queued />
      <AttachedFiles />
      {app.library.chat.value.redaction?.on && <Lazy load={goingOut} onMissing={() => app.missing()} />}
      <div class="composer">
        <AttachButton />
        <textarea
          ref={field}
          id="composer"
          rows={1}
          aria-label={t('Message')}
          dir={directionOf(draft)}
          aria-describedby="status"
          placeholder={t('Message')}
          enterkeyhint={enterSends(app.settings.value.enter) ? 'send' : 'enter'}
          autocomplete="off"
          value={draft}
          onInput={(event) => app.type(event.currentTarget.value)}
          onKeyDown={pressed}
        />
        {app.busyHere.value && draft.trim() && (
          <IconButton icon="send" label={t('Send when the reply ends')} onClick={send} />
        )}
        {app.busyHere.value ? (
          <IconButton
            class="primary"
            icon="stop"
            label={t('Stop the reply')}
            disabled={app.replies.running.value?.stopping}
            onClick={() => app.replies.stop()}
          />
        ) : (
          <IconButton
            class="primary"
            icon="send"
            label={t('Send')}
            disabled={hindrance !== null || !draft.trim()}
            onClick={send}
          />
        )}
      </div>
      <StatusLine />
    </div>
  );
}
