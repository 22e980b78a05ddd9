import { start } from '../../src/ui/start.jsx';
import { FakeEngine } from './fake_engine.js';

start(() => /** @type {any} */ (new FakeEngine()));
