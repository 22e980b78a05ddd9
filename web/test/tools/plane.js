// The 4-bit plane that the web app derives:  {table: base64 f32, rows} -> {plane: base64 of its file}
import { readFileSync } from 'node:fs';
import { Ends } from '../../src/ends/ends.js';
import { LocalWorker, MemoryReader, PLAIN, cut } from '../ends/fixtures.js';

const { table, rows } = JSON.parse(readFileSync(0, 'utf8'));
const bytes = new Uint8Array(Buffer.from(table, 'base64'));
const kind = { rows, dtype: 'f32' };
const shards = cut(bytes, rows, 1);
/** @type {Map<string, Uint8Array>} */
const derived = new Map();
const ends = await Ends.open({
  manifest: /** @type {any} */ ({ hiddenSize: bytes.length / rows / 4, head: kind, embedding: kind }),
  shards: { head: shards, embedding: shards },
  spec: PLAIN,
  spawn: () => /** @type {any} */ (new LocalWorker(async (shard) => new MemoryReader(shard, derived))),
  compactFrom: 1,
});
await ends.close();
const [plane] = derived.values();
process.stdout.write(JSON.stringify({ plane: Buffer.from(plane).toString('base64') }));
