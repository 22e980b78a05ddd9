import { storeToken } from '../../../pairing/pair.js';
import { whyPairing } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { CredentialButton, CredentialField, useCredential } from '../controls/credential_field.jsx';
import { Said } from '../controls/said.jsx';

/**
 * Asks for a pairing code or a token.
 * @param {{problem: import('../../machine/phase.js').Problem | null}} props
 */
export function PairingCard({ problem }) {
  const app = useApp();
  const credential = useCredential({
    take: (token) => {
      storeToken(token);
      return app.connection.connect();
    },
  });
  return (
    <section class="card" aria-labelledby="setup">
      <h2 id="setup">{t('Pair this browser')}</h2>
      <p role="status">{whyPairing(problem, app.connection.refused)}</p>
      <form onSubmit={(event) => void credential.submit(event)}>
        <CredentialField id="credential" label={t('Pairing code or token')} credential={credential} />
        <CredentialButton label={t('Pair')} credential={credential} />
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
