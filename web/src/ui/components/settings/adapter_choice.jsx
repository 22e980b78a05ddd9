import { placeOf } from '../../../adapters/place.js';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { Lazy } from '../lazy.jsx';

const hosted = () => import('../adapters/hosts.jsx');

/** Which low-rank adapter is applied to replies of this chat: in the clear by the server, or by a host on ciphertexts. */
export function AdapterChoice() {
  const app = useApp();
  const { adapters = [], hosts = [] } = app.connection.phase.value.server ?? {};
  const chosen = app.library.chat.value.adapter;
  if (!adapters.length && !hosts.length && chosen === null) return null;
  const atHost = placeOf(chosen).host !== null;
  const none = { key: null, name: t('None'), description: t('The model as it is.') };
  const auto = { key: 'auto', name: t('Auto'), description: t('By the words of each message, chosen on this device.') };
  const notHere = t('Not on this server: there is no reply until another one is chosen.');
  const named = adapters.map(({ name, description }) => ({ key: name, name, description }));
  // A chat keeps its adapter where the server has lost it, and its user must be able to give it up.
  const missing = !atHost && ![none, auto, ...named].some(({ key }) => key === chosen);
  const lost = missing ? [{ key: chosen, name: chosen, description: notHere }] : [];
  const choose = (/** @type {string | null} */ adapter) => {
    app.changeChat({ adapter });
    // As with the system prompt: what is chosen before a chat begins is meant for the next ones too.
    if (!app.library.chat.value.roots.length) app.change({ adapter });
  };
  const ofServer = adapters.length || chosen === 'auto' ? [auto, ...named, ...lost] : lost;
  return (
    <>
      <fieldset class="radios">
        <legend class="label">{t('Adapter')}</legend>
        {[none, ...ofServer].map(({ key, name, description }) => (
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
        {ofServer.length > 0 && <p class="hint">{t('The server applies it in the clear and sees which one.')}</p>}
      </fieldset>
      {(hosts.length > 0 || atHost) && <Lazy load={hosted} onMissing={() => app.missing()} given={{ chosen, choose }} />}
    </>
  );
}
