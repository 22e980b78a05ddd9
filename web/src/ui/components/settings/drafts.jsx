import { Choice } from '../controls/choice.jsx';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** Whether guesses at what follows travel along, and what they go by. */
export function Drafts() {
  const app = useApp();
  const { drafts, draft_memory: memory } = app.settings.value;
  return (
    <>
      <Choice
        name="drafts"
        label={t('Drafts')}
        options={[['auto', t('Auto')], ['off', t('Off')]]}
        value={drafts}
        onChange={(value) => app.change({ drafts: value })}
      />
      <p class="hint">
        {t(
          'This device guesses words that were written before, and sends them along where that saves waiting. Replies stay the same. Wrong guesses reach the server too, and how many travel tells it what kind of task this is. A chat with noise has none.',
        )}
      </p>
      {drafts === 'auto' && (
        <>
          <Choice
            name="draft_memory"
            label={t('Drafts go by')}
            options={[['chat', t('This chat')], ['server', t('This server')]]}
            value={memory}
            onChange={(value) => app.change({ draft_memory: value })}
          />
          <p class="hint">
        {t(
          'This chat: what it has sent or received. This server: also replies of other chats with this server, until one of them is deleted or the page is closed.',
        )}
      </p>
        </>
      )}
    </>
  );
}
