import { duration, rate, size } from '../../words/format.js';
import { useApp } from '../context.jsx';
import { IconButton } from '../controls/icon.jsx';

/** Below the composer: why nothing can be sent, else how fast the reply comes and what has travelled. */
export function StatusLine() {
  const app = useApp();
  const { server, name } = app.connection.phase.value;
  const { adapter: chosen, noise } = app.library.chat.value;
  const choosable = name === 'ready' && (chosen !== null || (server?.adapters.length ?? 0) > 0);
  return (
    <div class="status">
      <IconButton icon="eye" label="What the server sees" onClick={() => (app.sheet.value = 'seen')} />
      <p id="status">
        <StatusWords />
      </p>
      {noise?.on && (
        <button type="button" class="chip" onClick={() => (app.sheet.value = 'settings')}>
          Noise on
        </button>
      )}
      {choosable && (
        <button
          type="button"
          class={chosen ? 'chip' : 'chip only-roomy'}
          onClick={() => (app.sheet.value = 'settings')}
        >
          Adapter: {chosen ?? 'none'}
        </button>
      )}
    </div>
  );
}

function StatusWords() {
  const app = useApp();
  const here = app.busyHere.value;
  const hindrance = app.hindrance.value;
  if (hindrance && !here) return <>{hindrance}</>;
  const parts = here ? liveFigures(app.replies) : [];
  const stats = app.traffic.stats.value;
  if (stats?.exchanges) parts.push(`↑ ${size(stats.bytesUp)} ↓ ${size(stats.bytesDown)}`);
  return <>{parts.join(' · ') || 'Assume that the server can recover what you write.'}</>;
}

/** @param {import('../../state/replies.js').Replies} replies @returns {string[]} */
function liveFigures({ running, live }) {
  if (running.value?.stopping) return ['Stopping…'];
  const { ttft, tokensPerSecond } = live.value ?? { ttft: null, tokensPerSecond: null };
  if (ttft === null) return ['Reading the prompt…'];
  const first = `TTFT ${duration(ttft)}`;
  return tokensPerSecond ? [rate(tokensPerSecond), first] : [first];
}
