import { useState } from 'preact/hooks';
import { describeError } from '../../../common/errors.js';
import { guessName } from '../../../pairing/device_name.js';
import { isToken, redeem } from '../../../pairing/pair.js';
import { readCredential } from '../../view/credential.js';
import { sentence } from '../../words/explain.js';
import { t } from '../../words/languages/words.js';

/**
 * What a person types to be let in: a pairing code, traded for a token, or a token.
 * @param {object} about
 * @param {(token: string) => unknown} about.take a token is there; what it throws is shown
 * @param {typeof fetch} [about.request] reaches whoever gave the code
 */
export function useCredential({ take, request }) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      await take(await tokenOf(text, request));
    } catch (error) {
      setWrong(sentence(describeError(error).message));
    }
    setBusy(false);
  };
  return { text, setText, wrong, busy, submit };
}

/** @typedef {ReturnType<typeof useCredential>} Credential */

/**
 * The field, and why what it had was refused; a hint with the id `ID-help` explains it.
 * @param {{id: string, label: string, credential: Credential}} props
 */
export function CredentialField({ id, label, credential: { text, setText, wrong } }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
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
  );
}

/** @param {{label: string, credential: Credential}} props */
export function CredentialButton({ label, credential: { text, busy } }) {
  return (
    <button type="submit" class="button primary" disabled={busy || !text.trim()}>
      {busy ? t('Pairing…') : label}
    </button>
  );
}

/** @param {string} text @param {typeof fetch} [request] @returns {Promise<string>} throws what redeem throws */
async function tokenOf(text, request) {
  const credential = readCredential(text, isToken);
  if (credential.kind === 'token') return credential.token;
  const { token } = await redeem({ code: credential.code, name: guessName(navigator) }, request);
  return token;
}
