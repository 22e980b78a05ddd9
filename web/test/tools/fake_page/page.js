import { start } from '../../../src/ui/start.jsx';
import { FakeEngine } from './engine.js';

start(() => /** @type {any} */ (new FakeEngine()));
