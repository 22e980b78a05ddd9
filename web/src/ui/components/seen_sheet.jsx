import { useEffect, useState } from 'preact/hooks';
import { counted, size } from '../words/format.js';
import { wayInWords } from '../view/origin.js';
import { storageIsPersistent } from '../view/persistence.js';
import { useApp } from './context.jsx';
import { Icon } from './controls/icon.jsx';
import { Lazy } from './lazy.jsx';
import { Sheet } from './sheet.jsx';

const noiseSeen = () => import('./noise/panel.jsx').then(({ NoiseSeen }) => ({ default: NoiseSeen }));

/** What the server sees of the chats, in words that claim no more than is so (docs/privacy.md). */
export default function SeenSheet() {
  const app = useApp();
  return (
    <Sheet title="What the server sees" onClose={() => (app.sheet.value = null)}>
      <Travelled />
      <Learns />
      <Facts />
    </Sheet>
  );
}

function Travelled() {
  const app = useApp();
  const stats = app.traffic.stats.value;
  return (
    <section class="section" aria-label="What has travelled">
      <div class="flow">
        <div>
          <span class="hint">
            <Icon name="up" /> Up
          </span>
          <span class="number">{size(stats?.bytesUp ?? 0)}</span>
        </div>
        <div>
          <span class="hint">
            <Icon name="down" /> Down
          </span>
          <span class="number">{size(stats?.bytesDown ?? 0)}</span>
        </div>
      </div>
      <p class="hint">
        In frames of all chats since this page connected; headers and the download of the model are not in it.
      </p>
    </section>
  );
}

function Learns() {
  const app = useApp();
  const noised = app.library.chat.value.noise?.on === true;
  return (
    <section class="section words" aria-labelledby="learns">
      <h3 id="learns">What the server can learn</h3>
      <p>
        The server is honest but curious: it knows all weights and our code, keeps all traffic, sees sizes
        and timing.
      </p>
      {noised ? (
        <Lazy load={noiseSeen} onMissing={() => app.missing()} />
      ) : (
        <SplitMode />
      )}
      <h3>What stays on this device</h3>
      <p>
        Saved chats, the seed, sampling settings and logit biases are never sent. The system prompt is part
        of the prompt. Tokenizer, LM head, sampler and penalties run here.
      </p>
    </section>
  );
}

function SplitMode() {
  const drafts = useApp().settings.value.drafts === 'auto';
  return (
    <>
      <p>
        In <strong>split</strong> mode assume that it can recover the prompt and the reply: embedding rows
        are invertible by table look-up, and it could run the LM head itself. Split mode moves work and
        control (sampling, adapters, keys) to the device; it is not confidentiality.
      </p>
      {drafts && (
        <p>
          Drafts are on: guesses that turn out wrong reach it as rows like others, and how many rows a step has tells it
          what kind of task this is.
        </p>
      )}
      <p>Noise: off in this chat.</p>
    </>
  );
}

function Facts() {
  const app = useApp();
  const stats = app.traffic.stats.value;
  const { server } = app.connection.phase.value;
  const ends = app.connection.ends.value;
  const adapter = app.replies.last.value?.adapter;
  const [persistent, setPersistent] = useState('not known');
  useEffect(() => void storageIsPersistent().then(setPersistent), []);
  const rows = [
    ['Address', location.host],
    ['Carried by', stats?.transport ?? 'not connected yet'],
    ['Round trips', String(stats?.exchanges ?? 0)],
    ['Numbers travel as', stats?.dtype ?? 'not agreed yet'],
    ['Session', stats?.cachedTokens ? `${counted(stats.cachedTokens, 'token')} cached` : 'none open'],
    ['Adapter sent', adapter ?? 'none'],
    ['Attention', app.library.chat.value.attention ? 'asked for with each token' : 'not asked for'],
    ['Reconnects', String(stats?.reconnects ?? 0)],
    ['LM head here', ends ? `${stats?.kernel ?? ends.kernel}, ${counted(ends.workers, 'worker')}` : 'not open'],
    ['Model kept in', server?.storage ?? 'not known'],
    ['Storage', persistent],
  ];
  return (
    <section class="section" aria-labelledby="connection">
      <h3 id="connection">Connection</h3>
      <p>{wayInWords(location)}</p>
      <dl class="facts">
        {rows.map(([term, value]) => (
          <>
            <dt key={term}>{term}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}
