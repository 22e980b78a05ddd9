import { start } from '../../../src/ui/start.jsx';
import { FakeEngine } from './engine.js';

start(() => {
  const engine = new FakeEngine();
  // What reached it, for tests.
  Object.assign(window, { fakeEngine: engine });
  return /** @type {any} */ (engine);
});
