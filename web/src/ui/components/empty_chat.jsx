import { useApp } from './context.jsx';
import { Icon } from './icon.jsx';
import { SetupCard } from './setup_card.jsx';

/** A chat without messages: what is still to be done, or what this is. */
export function EmptyChat() {
  const app = useApp();
  const { name, server } = app.connection.phase.value;
  if (name !== 'ready' && name !== 'connecting') return <SetupCard />;
  return (
    <div class="empty">
      <Icon name="mark" class="mark" />
      <h2>{server ? server.manifest.name : 'Gatelink'}</h2>
      <p>
        {name === 'connecting'
          ? 'Connecting…'
          : 'This device holds the ends of the model and picks every word; the server computes what lies between.'}
      </p>
      {name === 'ready' && server && !server.manifest.hasTemplate && (
        <p>This model was not made for chats: it continues what you write.</p>
      )}
    </div>
  );
}
