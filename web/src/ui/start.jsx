import { render } from 'preact';
import { ChatStore } from '../chats/store.js';
import { forgetToken, loadToken } from '../pairing/pair.js';
import { InstallPrompt } from '../pwa/install.js';
import { cacheSalt } from '../settings/cache_salt.js';
import { routeAnew, routingId } from '../settings/routing_id.js';
import { loadSettings, saveSettings, watchSettings } from '../settings/settings.js';
import { App } from './components/app.jsx';
import { App as AppState } from './state/app.js';
import { writersHere } from './state/tabs/writers.js';
import { attend } from './view/attend.js';
import { closeOnBack } from './view/back.js';
import { matching } from './view/matching.js';
import { pageStorage } from './view/page_storage.js';
import { followTheme } from './view/theme.js';
import { load as loadBlocks } from './view/blocks.js';
import { followViewport } from './view/viewport.js';
import { followLanguage } from './words/languages/words.js';

const WIDE = '(min-width: 900px)';

/**
 * Puts the page up; what takes time begins after it stands.
 * @param {() => import('../engine/client.js').EngineClient} spawn starts the engine
 * @param {(app: AppState) => void} [later] what else can wait until then
 */
export function start(spawn, later = () => {}) {
  const install = new InstallPrompt();
  const app = new AppState({
    spawn,
    openChats: () => ChatStore.open(),
    url: location.origin,
    loadToken,
    forgetToken,
    cacheSalt,
    routing: { id: routingId, anew: routeAnew },
    showing: loadBlocks,
    settings: loadSettings(),
    saveSettings,
    memory: pageStorage(),
    writers: writersHere(),
  });
  const offer = () => {
    app.install.value = { state: install.state, ask: () => void install.ask() };
  };
  install.onChange = offer;
  offer();
  followTheme(app.settings);
  followLanguage(app.settings);
  followViewport();
  attend(app);
  watchSettings((settings) => (app.settings.value = settings));
  const wide = matching(WIDE);
  closeOnBack(app.sheet, { beside: () => wide.value && app.sheet.value === 'chats' });
  const place = /** @type {HTMLElement} */ (document.getElementById('app'));
  render(<App app={app} wide={wide} />, place);
  requestAnimationFrame(() => {
    setTimeout(() => {
      void app.start();
      later(app);
    });
  });
}
