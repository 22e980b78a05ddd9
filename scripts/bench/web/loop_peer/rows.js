// A worker that writes random f16 rows as the app's store keeps them in IndexedDB, and computes the oracle.
import { atomically, openDatabase } from '../../../../web/src/weights/indexeddb/database.js';
import { runOf, writeRun } from '../../../../web/src/weights/indexeddb/pieces.js';
import { openShard } from '../../../../web/src/weights/shard.js';
import { answer } from './jobs.js';
import { bits, halves, insert, normal, toHalf } from './random.js';

const AT_ONCE = 1024;

answer({ fill, oracle });

/** The shards of a table as a model whose records aim at `record` bytes; their descriptors. */
async function fill({ rows, hidden, shards, record }) {
  const table = Uint16Array.from(normal(65536, 7), (value) => toHalf(value * 0.02));
  const next = bits(12345);
  const digest = record.toString(16).padStart(64, '0');
  const border = (index) => Math.floor((index * rows) / shards);
  const database = await openDatabase();
  await atomically(database, (models) => models.put(record, [digest, 'record']));
  const descriptors = [];
  for (let index = 0; index < shards; index++) {
    const shard = { first: border(index), rows: border(index + 1) - border(index), rowBytes: 2 * hidden };
    const name = `f0s${index}`;
    const run = runOf(digest, { name, size: shard.rows * shard.rowBytes, rowBytes: shard.rowBytes }, record);
    for (let start = 0; start < shard.rows; start += AT_ONCE) {
      const count = Math.min(AT_ONCE, shard.rows - start);
      const block = Uint16Array.from({ length: count * hidden }, () => table[next() >>> 16]);
      const bytes = new Uint8Array(block.buffer);
      await atomically(database, (_, store) => writeRun(store, run, start * shard.rowBytes, bytes), 'relaxed');
    }
    descriptors.push({ kind: 'indexeddb', path: [digest, name], ...shard });
  }
  database.close();
  return descriptors;
}

/** The first `k` ids by float64 products, for each hidden state: an order of summation of its own. */
async function oracle({ descriptors, hidden, seeds, k }) {
  const wide = Float64Array.from(halves());
  const states = seeds.map((seed) => Float64Array.from(normal(hidden, seed)));
  const tops = states.map(() => []);
  for (const descriptor of descriptors) {
    const reader = await openShard(descriptor);
    for (let start = 0; start < reader.rows; start += AT_ONCE) {
      const count = Math.min(AT_ONCE, reader.rows - start);
      const values = new Uint16Array(count * hidden);
      await reader.readRange(start, count, new Uint8Array(values.buffer));
      states.forEach((state, i) => {
        for (let row = 0; row < count; row++) {
          let sum = 0;
          for (let j = 0; j < hidden; j++) sum += wide[values[row * hidden + j]] * state[j];
          insert(tops[i], { id: descriptor.first + start + row, sum }, k);
        }
      });
    }
    reader.close();
  }
  return tops.map((top) => top.map(({ id }) => id));
}
