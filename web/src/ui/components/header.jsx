import { useApp } from './context.jsx';
import { IconButton } from './controls/icon.jsx';

export function Header() {
  const app = useApp();
  const chat = app.library.chat.value;
  const { server } = app.connection.phase.value;
  return (
    <header class="head">
      <IconButton
        class="only-narrow"
        icon="menu"
        label="Saved chats"
        onClick={() => (app.sheet.value = 'chats')}
      />
      <div class="title">
        <h1 dir="auto">{chat.title || 'New chat'}</h1>
        <p class="under">{server?.manifest.name ?? (chat.model || 'Gatelink')}</p>
      </div>
      <IconButton icon="sliders" label="Settings" onClick={() => (app.sheet.value = 'settings')} />
      <IconButton class="only-narrow" icon="plus" label="New chat" onClick={() => app.newChat()} />
    </header>
  );
}
