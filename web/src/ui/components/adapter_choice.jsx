import { useApp } from './context.jsx';

const NONE = { key: null, name: 'None', description: 'The model as it is.' };
const AUTO = {
  key: 'auto',
  name: 'Auto',
  description: 'By the words of each message, chosen on this device.',
};

/** Which low-rank adapter the server applies to replies of this chat. */
export function AdapterChoice() {
  const app = useApp();
  const adapters = app.connection.phase.value.server?.adapters ?? [];
  if (!adapters.length) return null;
  const chosen = app.library.chat.value.adapter;
  const named = adapters.map(({ name, description }) => ({ key: name, name, description }));
  const choose = (/** @type {string | null} */ adapter) => {
    app.changeChat({ adapter });
    app.change({ adapter });
  };
  return (
    <fieldset class="radios">
      <legend class="label">Adapter</legend>
      {[NONE, AUTO, ...named].map(({ key, name, description }) => (
        <label key={String(key)}>
          <input type="radio" name="adapter" checked={chosen === key} onChange={() => choose(key)} />
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
