import { replacedWords } from '../../words/redacted.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Preview, usePreview } from './preview.jsx';

/** Above the message field: the message as it goes out, while it is written. */
export function GoingOut() {
  const app = useApp();
  const { made, problem } = usePreview(app.written);
  return (
    <div class="queued" aria-label={t('What goes out')} role="group">
      <p>
        {problem && <span class="problem">{problem}</span>}
        {made && !problem && (
          <>
            <span class="hint">{t('Goes out as:')}</span> <Preview made={made} />
          </>
        )}
        {!made && !problem && <span class="hint">{t('Redaction is on.')}</span>}
      </p>
      <button type="button" class="button quiet" onClick={() => (app.sheet.value = 'redaction')}>
        {made ? replacedWords(made.pieces.length) : t('What goes out')}
      </button>
    </div>
  );
}
