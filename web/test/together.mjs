/**
 * Runs the test files that are named in this one process: most take less time than a process takes
 * to start. What a file leaves behind, the next one finds; `node --test` runs each by itself.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);
