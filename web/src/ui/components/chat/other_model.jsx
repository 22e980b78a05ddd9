import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** The shown chat was with another of the server's models than the one that is chosen. */
export default function OtherModel() {
  const app = useApp();
  const { model, served = null } = app.library.chat.value;
  const here = app.connection.phase.value.server?.manifest.name;
  const was = served ?? model;
  return (
    <div class="banner">
      <p>
        {here
          ? t('This chat was with {was}. {here} goes on with it, and is sent all of it.', { was, here })
          : t('This chat was with {was}; another model is chosen now.', { was })}
      </p>
      <button
        type="button"
        class="button"
        disabled={app.replies.running.value !== null}
        onClick={() => void app.useModel(served)}
      >
        {t('Go back to {was}', { was })}
      </button>
    </div>
  );
}
