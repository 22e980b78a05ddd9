import { EngineClient } from '../engine/client.js';
import { registerServiceWorker } from '../pwa/register.js';
import { start } from './start.jsx';

start(
  () => new EngineClient(),
  (app) => {
    const run = () => location.reload();
    const onNewVersion = () => app.toasts.show('A new version is here', { label: 'Reload', run });
    void registerServiceWorker({ onNewVersion });
    if (location.search !== '?shared') return;
    const missing = () => app.missing();
    import('./view/device/shared.js').then(({ takeWhatIsShared }) => takeWhatIsShared(app), missing).catch(missing);
  },
);
