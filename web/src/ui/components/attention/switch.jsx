import { costOfAttention, whyNoAttention } from '../../words/attention.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** Whether replies of the shown chat bring what their tokens look at. */
export function AttentionSwitch() {
  const app = useApp();
  const chat = app.library.chat.value;
  const refused = app.attention.refused.value;
  const layers = app.connection.phase.value.server?.manifest.layers;
  return (
    <div class="field">
      <label class="switch">
        <input
          type="checkbox"
          checked={chat.attention === true}
          disabled={app.elsewhere.writing.value}
          aria-describedby="attention-hint"
          onChange={(event) => app.changeChat({ attention: event.currentTarget.checked })}
        />
        {t('Show what each token looked at')}
      </label>
      <p class="hint" id="attention-hint">
        {t(
          'The server sends the attention of each token along: {cost}. Replies have no drafts meanwhile. What each looked at is kept here for the latest reply, never saved; how bright the chat is to them is saved with it.',
          { cost: costOfAttention(layers) },
        )}
      </p>
      {chat.attention && refused && <p class="problem">{whyNoAttention(refused)}</p>}
    </div>
  );
}
