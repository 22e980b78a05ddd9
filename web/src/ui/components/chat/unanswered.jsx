import { elsewhereWords } from '../../words/explain.js';
import { FULL } from '../../state/room/room.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Lazy } from '../lazy.jsx';

const fullContext = () => import('../room/full.jsx');

/** Stands where a reply is missing: why, and how to get one. @param {{leaf: string}} props */
export function Unanswered({ leaf }) {
  const app = useApp();
  const failure = app.replies.failure.value;
  const why = failure?.leaf === leaf && failure.chat === app.library.chat.value.id ? failure.message : null;
  if (app.elsewhere.writing.value) {
    return (
      <div class="message">
        <p class="ended">{elsewhereWords()}</p>
      </div>
    );
  }
  if (why && FULL.has(failure?.code ?? '')) return <Lazy load={fullContext} onMissing={() => app.missing()} />;
  const final = why !== null && app.unanswerable();
  return (
    <div class="message">
      {why && <p class="ended failed">{t('No reply: {why}', { why })}</p>}
      <div class="row">
        <button
          type="button"
          class="button"
          disabled={app.hindrance.value !== null}
          onClick={() => (final ? (app.editing.value = leaf) : app.regenerate(null))}
        >
          {final ? t('Edit the message') : why ? t('Try again') : t('Get a reply')}
        </button>
      </div>
    </div>
  );
}
