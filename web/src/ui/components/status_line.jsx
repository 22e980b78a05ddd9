import { duration, rate, size } from '../words/format.js';
import { useApp } from './context.jsx';

/** Below the composer: why nothing can be sent, else how fast replies come and what travels. */
export function StatusLine() {
  const app = useApp();
  const { server, name } = app.connection.phase.value;
  const chosen = app.library.chat.value.adapter;
  const choosable = name === 'ready' && (server?.adapters.length ?? 0) > 0;
  return (
    <div class="status">
      <p id="status">
        <StatusWords />
      </p>
      {choosable && (
        <button type="button" class="chip" onClick={() => (app.sheet.value = 'settings')}>
          Adapter: {chosen ?? 'none'}
        </button>
      )}
    </div>
  );
}

function StatusWords() {
  const app = useApp();
  const hindrance = app.hindrance.value;
  const running = app.replies.running.value;
  if (hindrance && !running) return <>{hindrance}</>;
  if (running && !app.busyHere.value) return <>{hindrance}</>;
  const live = app.replies.live.value;
  const last = app.replies.last.value;
  const { ttft, tokensPerSecond } = live ?? last ?? { ttft: null, tokensPerSecond: null };
  const stats = app.traffic.stats.value;
  const parts = [];
  if (running?.stopping) parts.push('Stopping…');
  else if (running && ttft === null) parts.push('Reading the prompt…');
  if (tokensPerSecond) parts.push(rate(tokensPerSecond));
  if (ttft !== null) parts.push(`first after ${duration(ttft)}`);
  if (stats?.exchanges) parts.push(`↑ ${size(stats.bytesUp)} ↓ ${size(stats.bytesDown)}`);
  return <>{parts.join(' · ') || 'Split mode: the server can recover what you write.'}</>;
}
