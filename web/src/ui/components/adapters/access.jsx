import { useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { guessName } from '../../../pairing/device_name.js';
import { forgetHostToken, loadHostToken, storeHostToken } from '../../../pairing/host_tokens.js';
import { isToken, redeem } from '../../../pairing/pair.js';
import { readCredential } from '../../view/credential.js';
import { hostWords } from '../../words/adapters.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';
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
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      const credential = readCredential(text, isToken);
      storeHostToken(host, credential.kind === 'token' ? credential.token : await tokenFor(host, credential.code));
      onChange();
    } catch (error) {
      setWrong(sentence(describeError(error).message));
    }
    setBusy(false);
  };
  const id = `host-${host}`;
  return (
    <form class="section" onSubmit={(event) => void submit(event)}>
      <div class="field">
        <label for={id}>{t('Pairing code or token of {host}', { host: hostWords(host) })}</label>
        <input
          id={id}
          class="text-field"
          type="text"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="XXXX-XXXX"
          aria-invalid={wrong ? 'true' : undefined}
          aria-describedby={`${id}-help`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class="problem" role="alert">
          {wrong}
        </p>
      </div>
      <div class="row">
        <button type="submit" class="button primary" disabled={busy || !text.trim()}>
          {busy ? t('Pairing…') : t('Pair with the host')}
        </button>
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

/** @param {string} host @param {string} code @returns {Promise<string>} throws what redeem throws */
async function tokenFor(host, code) {
  const at = (/** @type {any} */ path, /** @type {any} */ options) => fetch(host + path, options);
  const { token } = await redeem({ code, name: guessName(navigator) }, at);
  return token;
}
