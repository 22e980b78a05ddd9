import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { DownloadCard } from './download_card.jsx';
import { PairingCard } from './pairing_card.jsx';

/** What stands between the page and its first reply. */
export function SetupCard() {
  const app = useApp();
  const phase = app.connection.phase.value;
  switch (phase.name) {
    case 'needs_token':
      return <PairingCard problem={phase.problem} />;
    case 'needs_download':
    case 'downloading':
      return <DownloadCard />;
    case 'offline':
      return (
        <section class="card" aria-labelledby="setup">
          <h2 id="setup">{t('The server cannot be reached')}</h2>
          <p>{sentence(phase.problem?.message ?? '')}</p>
          <p class="hint">{t('The page tries again by itself; saved chats can be read meanwhile.')}</p>
          <div class="row">
            <button type="button" class="button primary" onClick={() => void app.connection.connect()}>
              {t('Try now')}
            </button>
          </div>
        </section>
      );
    case 'failed':
      return <Failed problem={phase.problem} />;
    default:
      return null;
  }
}

/** @param {{problem: import('../../machine/phase.js').Problem | null}} props */
function Failed({ problem }) {
  const app = useApp();
  const digest = app.connection.phase.value.server?.manifest.digest;
  // What is missing in a browser is still missing at the next try.
  const hopeless = problem?.code === 'browser_too_old';
  const damaged = digest && /weights|damaged|checksum|plane|tokenizer/.test(problem?.code ?? '');
  return (
    <section class="card" aria-labelledby="setup">
      <h2 id="setup">{t('That did not work')}</h2>
      <p>{sentence(problem?.message ?? '')}</p>
      <p class="hint">{t('Code: {code}', { code: problem?.code ?? '' })}</p>
      <div class="row">
        {!hopeless && (
          <button type="button" class="button primary" onClick={() => void app.connection.connect()}>
            {t('Try again')}
          </button>
        )}
        {app.connection.model !== null && /^(unknown_model|model_busy|model_unusable|not_found|http_404)$/.test(problem?.code ?? '') && (
          <button type="button" class="button" onClick={() => void app.useModel(null)}>
            {t('Use the server’s first model')}
          </button>
        )}
        {damaged && (
          <button type="button" class="button danger" onClick={() => void app.connection.remove(digest)}>
            {t('Delete the model here')}
          </button>
        )}
      </div>
    </section>
  );
}
