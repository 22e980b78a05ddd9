import { EngineClient } from '../engine/client.js';
import { registerServiceWorker } from '../pwa/register.js';
import { start } from './start.jsx';

start(
  () => new EngineClient(),
  () => void registerServiceWorker(),
);
