import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';

/** Which low-rank adapter the server applies to replies of this chat. */
export function AdapterChoice() {
  const app = useApp();
  const adapters = app.connection.phase.value.server?.adapters ?? [];
  const chosen = app.library.chat.value.adapter;
  if (!adapters.length && chosen === null) return null;
  const none = { key: null, name: t('None'), description: t('The model as it is.') };
  const auto = { key: 'auto', name: t('Auto'), description: t('By the words of each message, chosen on this device.') };
  const notHere = t('Not on this server: there is no reply until another one is chosen.');
  const named = adapters.map(({ name, description }) => ({ key: name, name, description }));
  // A chat keeps its adapter where the server has lost it, and its user must be able to give it up.
  const missing = ![none, auto, ...named].some(({ key }) => key === chosen);
  const lost = missing ? [{ key: chosen, name: chosen, description: notHere }] : [];
  const choose = (/** @type {string | null} */ adapter) => {
    app.changeChat({ adapter });
    // As with the system prompt: what is chosen before a chat begins is meant for the next ones too.
    if (!app.library.chat.value.roots.length) app.change({ adapter });
  };
  return (
    <fieldset class="radios">
      <legend class="label">{t('Adapter')}</legend>
      {[none, auto, ...named, ...lost].map(({ key, name, description }) => (
        <label key={String(key)}>
          <input
            type="radio"
            name="adapter"
            checked={chosen === key}
            disabled={app.elsewhere.writing.value}
            onChange={() => choose(key)}
          />
          <span>
            {name}
            <span class="hint block">{description}</span>
          </span>
        </label>
      ))}
      <p class="hint">{t('The server applies it in the clear and sees which one.')}</p>
    </fieldset>
  );
}
