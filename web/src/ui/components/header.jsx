import { t } from '../words/languages/words.js';
import { useApp } from './context.jsx';
import { IconButton } from './controls/icon.jsx';
import { TintSwitch } from './tint/switch.jsx';

export function Header() {
  const app = useApp();
  const chat = app.library.chat.value;
  const { server } = app.connection.phase.value;
  return (
    <header class="head">
      <IconButton
        class="only-narrow"
        icon="menu"
        label={t('Saved chats')}
        onClick={() => (app.sheet.value = 'chats')}
      />
      <div class="title">
        <h1 dir="auto">{chat.title || t('New chat')}</h1>
        <p class="under">{server?.manifest.name ?? (chat.model || 'Gatelink')}</p>
      </div>
      {chat.leaf !== null && (
        <IconButton icon="search" label={t('Find in this chat')} onClick={() => (app.finding.value = true)} />
      )}
      <TintSwitch />
      <IconButton icon="sliders" label={t('Settings')} onClick={() => (app.sheet.value = 'settings')} />
      <IconButton class="only-narrow" icon="plus" label={t('New chat')} onClick={() => app.newChat()} />
    </header>
  );
}
