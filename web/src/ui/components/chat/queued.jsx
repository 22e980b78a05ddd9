import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** The message that waits for the end of the reply. */
export function Queued() {
  const app = useApp();
  const text = app.queue.shown.value;
  return (
    <div role="status">
      {text && (
        <div class="queued">
          <p>
            <span class="hint">{t('Sent when the reply ends:')}</span> <span dir="auto">{text}</span>
            {app.queue.files.value.map((file) => (
              <span key={file} class="hint" dir="auto">{` · ${file.name}`}</span>
            ))}
          </p>
          <IconButton icon="close" label={t('Take back the waiting message')} onClick={() => app.queue.takeBack()} />
        </div>
      )}
    </div>
  );
}
