import { useEffect } from 'preact/hooks';
import { MOST_COUNTED } from '../../state/room/meter.js';
import { meterWords } from '../../words/room.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** How full the context is, with what is being written; opens what stands in it. */
export function Meter() {
  const app = useApp();
  const { meter } = app;
  const chat = app.library.chat.value;
  const draft = app.written;
  const here = app.busyHere.value;
  const ready = app.connection.phase.value.name === 'ready';
  useEffect(() => {
    if (ready) meter.ask();
  }, [chat, draft, here, ready]);
  const { budget, fill } = meter;
  if (budget === null) return null;
  const more = meter.typed.value + (here ? (app.replies.live.value?.tokens ?? 0) : 0);
  const { short, long } = meterWords(fill, more, budget, draft.length > MOST_COUNTED);
  const share = Math.min(1, ((fill?.total ?? 0) + more) / budget);
  return (
    <button
      type="button"
      class={share >= 1 ? 'meter over' : 'meter'}
      onClick={() => (app.sheet.value = 'context')}
    >
      <Ring share={share} />
      <span class="unseen">{t('Context')}: </span>
      <span class="only-roomy">{long}</span>
      <span class="only-phone">{short}</span>
      <span class="unseen"> {t('tokens')}</span>
    </button>
  );
}

/** @param {{share: number}} props 0 to 1 */
function Ring({ share }) {
  return (
    <svg class="ring" viewBox="0 0 20 20" aria-hidden="true">
      <circle cx="10" cy="10" r="8" pathLength="100" />
      <circle class="part" cx="10" cy="10" r="8" pathLength="100" stroke-dasharray={`${100 * share} 100`} />
    </svg>
  );
}
