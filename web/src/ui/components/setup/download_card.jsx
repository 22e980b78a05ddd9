import { duration, size } from '../../words/format.js';
import { sentence } from '../../words/explain.js';
import { useApp } from '../context.jsx';

const STORAGE = {
  opfs: 'In this browser’s private files for this page.',
  indexeddb: 'In this browser’s database for this page.',
  memory: 'In memory only: this browser keeps nothing here, so a reload downloads it again.',
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
      <h2 id="setup">{name === 'downloading' ? 'Downloading' : 'Download'} the ends of {manifest.name}</h2>
      <p>
        Tokenizer, embedding table and LM head come to this device once. Everything between them stays on the
        server.
      </p>
      <dl class="facts">
        <dt>Size</dt>
        <dd>
          {size(manifest.size)}
          {comes < manifest.size && `, sent as ${size(comes)}`}
        </dd>
        <dt>Licence</dt>
        <dd>{manifest.licence ?? 'not said'}</dd>
        {freeBytes !== null && (
          <>
            <dt>Free here</dt>
            <dd>{size(freeBytes)}</dd>
          </>
        )}
        {doneBytes > 0 && name !== 'downloading' && (
          <>
            <dt>Here already</dt>
            <dd>{size(doneBytes)}</dd>
          </>
        )}
      </dl>
      {problem && (
        <p class="problem" role="alert">
          {sentence(problem.message)}
        </p>
      )}
      {tight && <p class="problem">That is more than this browser says it can keep.</p>}
      {name === 'downloading' ? (
        <Progress />
      ) : (
        <Actions done={doneBytes} digest={manifest.digest} missing={missing} />
      )}
      <p class="hint">
        {STORAGE[storage]} Each piece is checked; a download that stops goes on where it was.
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
      <progress class="bar" aria-label="Downloaded" value={done} max={total || 1} />
      <div class="progress-line">
        <span>
          {size(done)} of {size(total)}
        </span>
        <span>{howFast(progress)}</span>
      </div>
      <div class="row">
        <button type="button" class="button" onClick={() => void app.connection.pause()}>
          Pause
        </button>
      </div>
    </>
  );
}

/** @param {import('../../state/connection.js').Progress} progress */
function howFast({ done, total, perSecond, retrying }) {
  if (retrying) return 'Connection lost, trying again…';
  if (perSecond === null) return 'Waiting for the server…';
  const left = Math.max(1, Math.ceil((total - done) / perSecond));
  return `${size(perSecond)}/s, ${left < 100 ? `${left} s` : duration(left)} left`;
}

/** @param {{done: number, digest: string, missing: number}} props */
function Actions({ done, digest, missing }) {
  const app = useApp();
  return (
    <div class="row">
      <button type="button" class="button primary" onClick={() => void app.connection.download()}>
        {done > 0 ? `Go on (${size(missing)} left)` : `Download ${size(missing)}`}
      </button>
      {done > 0 && (
        <button type="button" class="button danger" onClick={() => void app.connection.remove(digest)}>
          Delete
        </button>
      )}
    </div>
  );
}
