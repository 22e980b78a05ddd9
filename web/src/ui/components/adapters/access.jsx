import { forgetHostToken, loadHostToken, storeHostToken } from '../../../pairing/host_tokens.js';
import { hostWords } from '../../words/adapters.js';
import { t } from '../../words/languages/words.js';
import { CredentialButton, CredentialField, useCredential } from '../controls/credential_field.jsx';
import { Said } from '../controls/said.jsx';

/**
 * This browser's token for an adapter host: how it is had, and how it is given up.
 * @param {{host: string, wanted: boolean, onChange: () => void}} props wanted: the host asks for another one
 */
export function HostAccess({ host, wanted, onChange }) {
  const known = loadHostToken(host) !== null;
  const forget = () => {
    forgetHostToken(host);
    onChange();
  };
  return (
    <>
      {wanted && <Pairing host={host} onChange={onChange} />}
      {known && (
        <div class="row">
          <button type="button" class="button danger" onClick={forget}>
            {t('Forget the token for {host}', { host: hostWords(host) })}
          </button>
        </div>
      )}
    </>
  );
}

/** @param {{host: string, onChange: () => void}} props */
function Pairing({ host, onChange }) {
  const credential = useCredential({
    take: (token) => {
      storeHostToken(host, token);
      onChange();
    },
    request: (/** @type {any} */ path, /** @type {any} */ options) => fetch(host + path, options),
  });
  const id = `host-${host}`;
  return (
    <form class="section" onSubmit={(event) => void credential.submit(event)}>
      <CredentialField
        id={id}
        label={t('Pairing code or token of {host}', { host: hostWords(host) })}
        credential={credential}
      />
      <div class="row">
        <CredentialButton label={t('Pair with the host')} credential={credential} />
      </div>
      <p class="hint" id={`${id}-help`}>
        <Said
          text={t(
            'On the machine of the host, `split-server pair --state DIR` shows a code; DIR is the folder that it was started with.',
          )}
        />
      </p>
    </form>
  );
}
