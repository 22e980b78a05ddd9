// What of chats travels, on request of another language. JSON on stdin: {"texts": [text], "chats": [[message]],
// "ranges": [[ranges, text]]}; on stdout the units of each text as [start, stop, kind], what travels of each chat, and
// the ranges that are taken (null: refused).
import { readFileSync } from 'node:fs';
import { rangesIn } from '../../../src/chats/context/ranges.js';
import { travelling } from '../../../src/chats/context/travelling.js';
import { unitsOf } from '../../../src/chats/context/units.js';

const { texts, chats, ranges } = JSON.parse(readFileSync(0, 'utf8'));
const units = texts.map((/** @type {string} */ content) =>
  unitsOf({ role: 'user', content }).map(({ start, stop, kind }) => [start, stop, kind]),
);
const taken = ranges.map((/** @type {[unknown, string]} */ [given, text]) => rangesIn(given, text));
process.stdout.write(JSON.stringify({ units, sent: chats.map(travelling), ranges: taken }));
