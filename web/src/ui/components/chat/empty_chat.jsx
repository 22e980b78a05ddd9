import { useApp } from '../context.jsx';
import { Icon } from '../controls/icon.jsx';
import { SetupCard } from '../setup/card.jsx';

const WORDS = {
  connecting: 'Connecting…',
  preparing: 'Preparing the model…',
  ready:
    'This device holds the ends of the model and picks every token; ' +
    'the server computes what lies between.',
};

/** A chat without messages: what is still to be done, or what this is. */
export function EmptyChat() {
  const app = useApp();
  const { name, server } = app.connection.phase.value;
  if (name !== 'ready' && name !== 'connecting' && name !== 'preparing') return <SetupCard />;
  return (
    <div class="empty">
      <Icon name="mark" class="mark" />
      <h2>{server ? server.manifest.name : 'Gatelink'}</h2>
      <p>{WORDS[name]}</p>
      {name === 'preparing' && <Prepared />}
      {name === 'ready' && server && !server.manifest.hasTemplate && (
        <p>This model was not made for chats: it continues what you write.</p>
      )}
    </div>
  );
}

/** Shown only where it takes a while, as it does the first time for a large model. */
function Prepared() {
  const app = useApp();
  const fraction = app.connection.prepared.value ?? 0;
  return <progress class="bar later" aria-label="Prepared" value={fraction} max={1} />;
}
