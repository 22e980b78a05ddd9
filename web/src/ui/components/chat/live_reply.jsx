import { shownReply } from '../../words/form.js';
import { useBlocks } from '../../view/blocks.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { LookedButton } from '../attention/button.jsx';
import { Markdown } from '../markdown/markdown.jsx';

/** The reply while it is made; nothing but this is drawn for a new token. */
export function LiveReply() {
  const app = useApp();
  const live = app.replies.live.value;
  const text = live?.text ?? '';
  const blocks = useBlocks(shownReply(text, live?.form), true);
  return (
    <article class="message from-model" aria-label={t('Reply')} aria-busy="true">
      {text ? (
        <Markdown blocks={blocks} />
      ) : (
        <p class="thinking">
          <span class="unseen">{t('Waiting for the first token')}</span>
          <i />
          <i />
          <i />
        </p>
      )}
      <div class="actions">
        <LookedButton node={null} />
      </div>
    </article>
  );
}
