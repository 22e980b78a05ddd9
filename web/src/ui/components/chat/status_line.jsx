import { adapterWords } from '../../words/adapters.js';
import { duration, rate } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';
import { Meter } from '../room/meter.jsx';

/** Below the composer: why nothing can be sent, else how fast the reply comes; how full the context is. */
export function StatusLine() {
  const app = useApp();
  const { server, name } = app.connection.phase.value;
  const { adapter: chosen, noise } = app.library.chat.value;
  const there = (server?.adapters.length ?? 0) + (server?.hosts?.length ?? 0);
  const choosable = name === 'ready' && (chosen !== null || there > 0);
  return (
    <div class="status">
      <IconButton icon="eye" label={t('What the server sees')} onClick={() => (app.sheet.value = 'seen')} />
      <p id="status">
        <StatusWords />
      </p>
      {noise?.on && (
        <button type="button" class="chip" onClick={() => (app.sheet.value = 'settings')}>
          {t('Noise on')}
        </button>
      )}
      {choosable && (
        <button
          type="button"
          class={chosen ? 'chip' : 'chip only-roomy'}
          onClick={() => (app.sheet.value = 'settings')}
        >
          {t('Adapter: {name}', { name: adapterWords(chosen) })}
        </button>
      )}
      <Meter />
    </div>
  );
}

function StatusWords() {
  const app = useApp();
  const here = app.busyHere.value;
  const hindrance = app.hindrance.value;
  if (hindrance && !here) return <>{hindrance}</>;
  const parts = here ? liveFigures(app.replies) : [];
  return <>{parts.join(' · ') || t('Assume that the server can recover what you write.')}</>;
}

/** @param {import('../../state/replies.js').Replies} replies @returns {string[]} */
function liveFigures({ running, live }) {
  if (running.value?.stopping) return [t('Stopping…')];
  const { ttft, tokensPerSecond } = live.value ?? { ttft: null, tokensPerSecond: null };
  if (ttft === null) return [t('Reading the prompt…')];
  const first = `TTFT ${duration(ttft)}`;
  return tokensPerSecond ? [rate(tokensPerSecond), first] : [first];
}
