import { Banners } from './banner.jsx';
import { Chats } from './chats/list.jsx';
import { AppContext } from './context.jsx';
import { Header } from './header.jsx';
import { Lazy } from './lazy.jsx';
import { MessageList } from './chat/message_list.jsx';
import { Modal } from './sheet.jsx';
import { Toasts } from './toasts.jsx';
import { t } from '../words/languages/words.js';

/** @typedef {import('../state/app.js').App} AppState */

/** @param {{app: AppState, wide: import('@preact/signals').ReadonlySignal<boolean>}} props */
export function App({ app, wide }) {
  // What lies behind a dialog cannot be used: its toasts stand in it.
  const covered = app.sheet.value !== null && !(app.sheet.value === 'chats' && wide.value);
  return (
    <AppContext.Provider value={app}>
      <a class="skip" href="#composer">
        {t('Skip to the message field')}
      </a>
      <div class="app">
        {wide.value && (
          <nav class="side" aria-label={t('Chats')}>
            <Chats />
          </nav>
        )}
        <main class="main">
          <Header />
          <Banners />
          <MessageList />
        </main>
      </div>
      <Sheets app={app} wide={wide} />
      {!covered && <Toasts />}
      <p class="unseen" aria-live="polite" aria-atomic="true">
        {app.spoken}
      </p>
    </AppContext.Provider>
  );
}

// The first message needs none of them.
const LATER = {
  settings: () => import('./settings/sheet.jsx'),
  attention: () => import('./attention/sheet.jsx'),
  heads: () => import('./tint/heads_sheet.jsx'),
  seen: () => import('./seen_sheet.jsx'),
  context: () => import('./room/sheet.jsx'),
  likely: () => import('./steering/sheet.jsx'),
  redaction: () => import('./redaction/panel.jsx').then(({ RedactionSheet }) => ({ default: RedactionSheet })),
};

/** @param {{app: AppState, wide: import('@preact/signals').ReadonlySignal<boolean>}} props */
function Sheets({ app, wide }) {
  const name = app.sheet.value;
  const close = () => (app.sheet.value = null);
  if (name === null) return null;
  if (name !== 'chats') return <Lazy key={name} load={LATER[name]} onMissing={() => app.missing()} />;
  return wide.value ? null : (
    <Modal label={t('Chats')} class="drawer" onClose={close}>
      <Chats onClose={close} />
    </Modal>
  );
}
