// The presets that come along, for another language: JSON on stdout.
import { BUILTIN } from '../../src/presets/builtin.js';

process.stdout.write(JSON.stringify(BUILTIN));
