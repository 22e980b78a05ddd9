import { Choice } from '../controls/choice.jsx';
import { useApp } from '../context.jsx';
import { ModelSection } from './model_section.jsx';
import { NoiseSection } from '../noise/section.jsx';
import { SamplingSection } from './sampling_section.jsx';
import { Sheet } from '../sheet.jsx';
import { ThisChat } from './this_chat.jsx';

const THEMES = /** @type {const} */ ([['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']]);
const TRANSPORTS = /** @type {const} */ ([['auto', 'Auto'], ['websocket', 'WebSocket'], ['http', 'HTTP']]);
const ENTER = /** @type {const} */ ([['auto', 'Auto'], ['sends', 'Sends'], ['breaks', 'New line']]);

export default function SettingsSheet() {
  const app = useApp();
  return (
    <Sheet title="Settings" onClose={() => (app.sheet.value = null)}>
      <ThisChat />
      <NoiseSection />
      <SamplingSection />
      <Page />
      <ModelSection />
    </Sheet>
  );
}

function Page() {
  const app = useApp();
  const { theme, transport, enter } = app.settings.value;
  return (
    <section class="section" aria-labelledby="page">
      <h3 id="page">This page</h3>
      <Choice
        name="theme"
        label="Theme"
        options={THEMES}
        value={theme}
        onChange={(value) => app.change({ theme: value })}
      />
      <Choice
        name="transport"
        label="Connection"
        options={TRANSPORTS}
        value={transport}
        onChange={(value) => {
          app.change({ transport: value });
          if (!app.replies.running.value) void app.connection.connect();
        }}
      />
      <Choice
        name="enter"
        label="Enter"
        options={ENTER}
        value={enter}
        onChange={(value) => app.change({ enter: value })}
      />
      <p class="hint">Auto: a new line from a touch keyboard, else it sends. Ctrl+Enter always sends.</p>
      <Install />
    </section>
  );
}

function Install() {
  const app = useApp();
  const { state, words, ask } = app.install.value;
  if (state === 'by_hand') return <p class="hint">To install: {words}</p>;
  if (state !== 'ready') return null;
  return (
    <div class="row">
      <button type="button" class="button" onClick={ask}>
        Install as an app
      </button>
    </div>
  );
}
