import { useEffect, useState } from 'preact/hooks';
import { forgetToken, loadToken } from '../../../pairing/pair.js';
import { describeError } from '../../../common/errors.js';
import { size } from '../../words/format.js';
import { t } from '../../words/languages/words.js';
import { sentence } from '../../words/explain.js';
import { useApp } from '../context.jsx';

/** @typedef {{digest: string, name: string, complete: boolean, bytes: number}} Kept */

/** What is kept on this device, and how to be rid of it. */
export function ModelSection() {
  const app = useApp();
  const [models, setModels] = useState(/** @type {Kept[] | null} */ (null));
  const busy = app.replies.running.value !== null;
  const look = () => app.connection.engine.models().then(setModels, () => setModels([]));
  useEffect(() => void look(), []);
  const remove = async (/** @type {string} */ digest) => {
    await app.connection.remove(digest).catch((error) => app.toasts.show(sentence(describeError(error).message)));
    await look();
  };
  return (
    <section class="section" aria-labelledby="kept">
      <h3 id="kept">{t('Kept on this device')}</h3>
      {models?.map((model) => (
        <div class="kept" key={model.digest}>
          <p>
            {model.name}
            <span class="hint block">
              {size(model.bytes)}
              {model.complete ? '' : `, ${t('not whole yet')}`}
            </span>
          </p>
          <button
            type="button"
            class="button danger"
            disabled={busy}
            onClick={() => void remove(model.digest)}
          >
            {t('Delete')}
          </button>
        </div>
      ))}
      {models?.length === 0 && <p class="hint">{t('No model.')}</p>}
      {loadToken() !== null && <Token />}
    </section>
  );
}

function Token() {
  const app = useApp();
  const forget = () => {
    forgetToken();
    app.sheet.value = null;
    void app.connection.connect();
  };
  return (
    <div class="kept">
      <p>
        {t('This browser’s token')}
        <span class="hint block">
          {t('The server’s owner can revoke it too: split-server devices revoke.')}
        </span>
      </p>
      <button type="button" class="button danger" onClick={forget}>
        {t('Forget')}
      </button>
    </div>
  );
}
