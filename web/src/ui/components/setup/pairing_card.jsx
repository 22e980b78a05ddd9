import { useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { guessName } from '../../../pairing/device_name.js';
import { isToken, redeem, storeToken } from '../../../pairing/pair.js';
import { readCredential } from '../../view/credential.js';
import { sentence, whyPairing } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Said } from '../controls/said.jsx';

/**
 * Asks for a pairing code or a token.
 * @param {{problem: import('../../machine/phase.js').Problem | null}} props
 */
export function PairingCard({ problem }) {
  const app = useApp();
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      const credential = readCredential(text, isToken);
      storeToken(credential.kind === 'token' ? credential.token : await tokenFor(credential.code));
      await app.connection.connect();
    } catch (error) {
      setWrong(sentence(describeError(error).message));
    }
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="setup">
      <h2 id="setup">{t('Pair this browser')}</h2>
      <p role="status">{whyPairing(problem, app.connection.refused)}</p>
      <form onSubmit={(event) => void submit(event)}>
        <div class="field">
          <label for="credential">{t('Pairing code or token')}</label>
          <input
            id="credential"
            class="text-field"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="XXXX-XXXX"
            aria-invalid={wrong ? 'true' : undefined}
            aria-describedby="credential-help"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p class="problem" role="alert">
            {wrong}
          </p>
        </div>
        <button type="submit" class="button primary" disabled={busy || !text.trim()}>
          {busy ? t('Pairing…') : t('Pair')}
        </button>
      </form>
      <p class="hint" id="credential-help">
        <Said
          text={t(
            'On the machine of the server, `split-server pair` shows a code that counts once, for a few minutes, and a QR code that does all this by itself.',
          )}
        />
      </p>
    </section>
  );
}

/** @param {string} code @returns {Promise<string>} throws what redeem throws */
async function tokenFor(code) {
  const { token } = await redeem({ code, name: guessName(navigator) });
  return token;
}
