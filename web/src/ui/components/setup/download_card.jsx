import { duration, size } from '../../words/format.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

const STORAGE = {
  opfs: () => t('In this browser’s private files for this page.'),
  indexeddb: () => t('In this browser’s database for this page.'),
  memory: () => t('In memory only: this browser keeps nothing here, so a reload downloads it again.'),
};

/** The model's ends come to this device: what, how large, how far. */
export function DownloadCard() {
  const app = useApp();
  const { name, server, doneBytes, problem } = app.connection.phase.value;
  if (!server) return null;
  const { manifest, comes, freeBytes, storage } = server;
  const missing = comes - doneBytes;
  const tight = freeBytes !== null && freeBytes < missing * (manifest.size / comes);
  return (
    <section class="card" aria-labelledby="setup">
      <h2 id="setup">
        {name === 'downloading'
          ? t('Downloading the ends of {name}', { name: manifest.name })
          : t('Download the ends of {name}', { name: manifest.name })}
      </h2>
      <p>
        {t('Tokenizer, embedding table and LM head come to this device once. Everything between them stays on the server.')}
      </p>
      <dl class="facts">
        <dt>{t('Size')}</dt>
        <dd>
          {comes < manifest.size
            ? t('{size}, sent as {sent}', { size: size(manifest.size), sent: size(comes) })
            : size(manifest.size)}
        </dd>
        <dt>{t('Licence')}</dt>
        <dd>{manifest.licence ?? t('not said')}</dd>
        {freeBytes !== null && (
          <>
            <dt>{t('Free here')}</dt>
            <dd>{size(freeBytes)}</dd>
          </>
        )}
        {doneBytes > 0 && name !== 'downloading' && (
          <>
            <dt>{t('Here already')}</dt>
            <dd>{size(doneBytes)}</dd>
          </>
        )}
      </dl>
      {problem && (
        <p class="problem" role="alert">
          {sentence(problem.message)}
        </p>
      )}
      {tight && <p class="problem">{t('That is more than this browser says it can keep.')}</p>}
      {name === 'downloading' ? (
        <Progress />
      ) : (
        <Actions done={doneBytes} digest={manifest.digest} missing={missing} />
      )}
      <p class="hint">
        {STORAGE[storage]()} {t('Each piece is checked; a download that stops goes on where it was.')}
      </p>
    </section>
  );
}

function Progress() {
  const app = useApp();
  const { doneBytes, server } = app.connection.phase.value;
  const begun = { done: doneBytes, total: server?.comes ?? 0, perSecond: null, retrying: false };
  const progress = app.connection.progress.value ?? begun;
  const { done, total } = progress;
  return (
    <>
      <progress class="bar" aria-label={t('Downloaded')} value={done} max={total || 1} />
      <div class="progress-line">
        <span>
          {t('{at} of {all}', { at: size(done), all: size(total) })}
        </span>
        <span>{howFast(progress)}</span>
      </div>
      <div class="row">
        <button type="button" class="button" onClick={() => void app.connection.pause()}>
          {t('Pause')}
        </button>
      </div>
    </>
  );
}

/** @param {import('../../state/connection.js').Progress} progress */
function howFast({ done, total, perSecond, retrying }) {
  if (retrying) return t('Connection lost, trying again…');
  if (perSecond === null) return t('Waiting for the server…');
  const left = Math.max(1, Math.ceil((total - done) / perSecond));
  return t('{size}/s, {time} left', { size: size(perSecond), time: left < 100 ? `${left} s` : duration(left) });
}

/** @param {{done: number, digest: string, missing: number}} props */
function Actions({ done, digest, missing }) {
  const app = useApp();
  return (
    <div class="row">
      <button type="button" class="button primary" onClick={() => void app.connection.download()}>
        {done > 0 ? t('Go on ({size} left)', { size: size(missing) }) : t('Download {size}', { size: size(missing) })}
      </button>
      {done > 0 && (
        <button type="button" class="button danger" onClick={() => void app.connection.remove(digest)}>
          {t('Delete')}
        </button>
      )}
    </div>
  );
}
