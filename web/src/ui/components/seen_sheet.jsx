import { useEffect, useState } from 'preact/hooks';
import { placeOf } from '../../adapters/place.js';
import { adapterWords } from '../words/adapters.js';
import { counted, size } from '../words/format.js';
import { wayInWords } from '../view/origin.js';
import { storageIsPersistent } from '../view/persistence.js';
import { t } from '../words/languages/words.js';
import { useApp } from './context.jsx';
import { Icon } from './controls/icon.jsx';
import { Said } from './controls/said.jsx';
import { Lazy } from './lazy.jsx';
import { Sheet } from './sheet.jsx';

const hostSeen = () => import('./adapters/seen.jsx');
const noiseSeen = () => import('./noise/panel.jsx').then(({ NoiseSeen }) => ({ default: NoiseSeen }));

/** What the server sees of the chats, in words that claim no more than is so (docs/privacy.md). */
export default function SeenSheet() {
  const app = useApp();
  return (
    <Sheet title={t('What the server sees')} onClose={() => (app.sheet.value = null)}>
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
    <section class="section" aria-label={t('What has travelled')}>
      <div class="flow">
        <div>
          <span class="hint">
            <Icon name="up" /> {t('Up')}
          </span>
          <span class="number">{size(stats?.bytesUp ?? 0)}</span>
        </div>
        <div>
          <span class="hint">
            <Icon name="down" /> {t('Down')}
          </span>
          <span class="number">{size(stats?.bytesDown ?? 0)}</span>
        </div>
      </div>
      <p class="hint">
        {t('In frames of all chats since this page connected; headers and the download of the model are not in it.')}
      </p>
    </section>
  );
}

function Learns() {
  const app = useApp();
  const { noise, adapter } = app.library.chat.value;
  const noised = noise?.on === true;
  return (
    <section class="section words" aria-labelledby="learns">
      <h3 id="learns">{t('What the server can learn')}</h3>
      <p>
        {t('The server is honest but curious: it knows all weights and our code, keeps all traffic, sees sizes and timing.')}
      </p>
      {noised ? (
        <Lazy load={noiseSeen} onMissing={() => app.missing()} />
      ) : (
        <SplitMode />
      )}
      <h3>{t('What stays on this device')}</h3>
      <p>
        {t(
          'Saved chats, the seed, sampling settings and logit biases are never sent. The system prompt is part of the prompt. Tokenizer, LM head, sampler and penalties run here.',
        )}
      </p>
      {placeOf(adapter).host !== null && <Lazy load={hostSeen} onMissing={() => app.missing()} />}
    </section>
  );
}

function SplitMode() {
  const app = useApp();
  const drafts = app.settings.value.drafts === 'auto';
  return (
    <>
      <p>
        <Said
        text={t(
          'In *split* mode assume that it can recover the prompt and the reply: embedding rows are invertible by table look-up, and it could run the LM head itself. Split mode moves work and control (sampling, adapters, keys) to the device; it is not confidentiality.',
        )}
      />
      </p>
      {drafts && (
        <p>
          {t(
          'Drafts are on: guesses that turn out wrong reach it as rows like others, and how many rows a step has tells it what kind of task this is.',
        )}
        </p>
      )}
      {app.library.chat.value.redaction?.on && (
        <p>
          {t(
            'Redaction is on in this chat: the prompt that it can recover is the one that was sent, with surrogates in place of the values that were found.',
          )}
        </p>
      )}
      <p>{t('Noise: off in this chat.')}</p>
    </>
  );
}

function Facts() {
  const app = useApp();
  const stats = app.traffic.stats.value;
  const { server } = app.connection.phase.value;
  const ends = app.connection.ends.value;
  const adapter = app.replies.last.value?.adapter ?? null;
  const [persistent, setPersistent] = useState(/** @type {string | null} */ (null));
  useEffect(() => void storageIsPersistent().then(setPersistent), []);
  const rows = [
    [t('Address'), location.host],
    [t('Carried by'), stats?.transport ?? t('not connected yet')],
    [t('Round trips'), String(stats?.exchanges ?? 0)],
    [t('Numbers travel as'), stats?.dtype ?? t('not agreed yet')],
    [t('Session'), stats?.cachedTokens ? t('{tokens} cached', { tokens: counted(stats.cachedTokens, 'token') }) : t('none open')],
    [t('Adapter sent'), placeOf(adapter).host === null ? adapterWords(adapter) : t('none')],
    [t('Attention'), app.library.chat.value.attention ? t('asked for with each token') : t('not asked for')],
    [t('Reconnects'), String(stats?.reconnects ?? 0)],
    [t('LM head here'), ends ? `${stats?.kernel ?? ends.kernel}, ${counted(ends.workers, 'worker')}` : t('not open')],
    [t('Model kept in'), server?.storage ?? t('not known')],
    [t('Storage'), persistent ?? t('not known')],
  ];
  return (
    <section class="section" aria-labelledby="connection">
      <h3 id="connection">{t('Connection')}</h3>
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
