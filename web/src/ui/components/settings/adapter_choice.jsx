import { useApp } from '../context.jsx';

const NONE = { key: null, name: 'None', description: 'The model as it is.' };
const AUTO = {
  key: 'auto',
  name: 'Auto',
  description: 'By the words of each message, chosen on this device.',
};

const NOT_HERE = 'Not on this server: there is no reply until another one is chosen.';

/** Which low-rank adapter the server applies to replies of this chat. */
export function AdapterChoice() {
  const app = useApp();
  const adapters = app.connection.phase.value.server?.adapters ?? [];
  const chosen = app.library.chat.value.adapter;
  if (!adapters.length && chosen === null) return null;
  const named = adapters.map(({ name, description }) => ({ key: name, name, description }));
  // A chat keeps its adapter where the server has lost it, and its user must be able to give it up.
  const missing = ![NONE, AUTO, ...named].some(({ key }) => key === chosen);
  const lost = missing ? [{ key: chosen, name: chosen, description: NOT_HERE }] : [];
  const choose = (/** @type {string | null} */ adapter) => {
    app.changeChat({ adapter });
    // As with the system prompt: what is chosen before a chat begins is meant for the next ones too.
    if (!app.library.chat.value.roots.length) app.change({ adapter });
  };
  return (
    <fieldset class="radios">
      <legend class="label">Adapter</legend>
      {[NONE, AUTO, ...named, ...lost].map(({ key, name, description }) => (
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
      <p class="hint">The server applies it in the clear and sees which one.</p>
    </fieldset>
  );
}
