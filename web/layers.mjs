// Imports go one way: a room imports only rooms of a lower layer, or itself.  node layers.mjs
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), 'src');

// From the lowest; rooms of one layer do not know each other.
const LAYERS = [
  ['common'],
  ['protocol', 'weights', 'markdown', 'pwa', 'settings', 'presets', 'redaction'],
  ['text', 'generation', 'grammar', 'ends', 'transport', 'chats', 'pairing'],
  ['adapters', 'session'],
  ['crypto', 'noise'],
  ['engine'],
  ['ui'],
];

const level = new Map(LAYERS.flatMap((rooms, index) => rooms.map((room) => [room, index])));
const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^;'"]*?from\s*['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]/g;

/** @param {string} path */
const roomOf = (path) => relative(SOURCE, path).split(sep)[0];

const problems = [];
const files = (await readdir(SOURCE, { recursive: true })).filter((name) => /\.jsx?$/.test(name));
for (const name of files) {
  const path = join(SOURCE, name);
  const from = roomOf(path);
  if (!level.has(from)) problems.push(`${name}: the room ${from} has no layer`);
  const text = (await readFile(path, 'utf8')).replace(/\/\*[\s\S]*?\*\//g, '');
  for (const [, named, lazy] of text.matchAll(IMPORT)) {
    const to = roomOf(join(dirname(path), named ?? lazy));
    if (to === from || to === '..') continue;
    if ((level.get(to) ?? Infinity) >= (level.get(from) ?? -1)) problems.push(`${name}: ${from} may not import ${to}`);
  }
}
for (const problem of problems) console.error(`layers: ${problem}`);
process.exit(problems.length ? 1 : 0);
