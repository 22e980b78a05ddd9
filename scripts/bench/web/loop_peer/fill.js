// A worker that writes random f16 rows as files of OPFS, and computes the oracle from them.
import { answer } from './jobs.js';
import { bits, halves, insert, normal, toHalf } from './random.js';

const AT_ONCE = 1024;
const FOLDER = 'bench-weights';

answer({ fill, oracle });

/** Files of the shards of a table; their descriptors. */
async function fill({ rows, hidden, shards }) {
  const table = Uint16Array.from(normal(65536, 7), (value) => toHalf(value * 0.02));
  const next = bits(12345);
  const border = (index) => Math.floor((index * rows) / shards);
  const descriptors = [];
  for (let index = 0; index < shards; index++) {
    const shard = { first: border(index), rows: border(index + 1) - border(index), rowBytes: 2 * hidden };
    const path = [FOLDER, `s${index}of${shards}`];
    await write(path, shard, hidden, () => table[next() >>> 16]);
    descriptors.push({ kind: 'opfs', path, ...shard });
  }
  return descriptors;
}

async function write([folder, name], { rows, rowBytes }, hidden, next) {
  const root = await navigator.storage.getDirectory();
  const directory = await root.getDirectoryHandle(folder, { create: true });
  const file = await directory.getFileHandle(name, { create: true });
  const handle = await file.createSyncAccessHandle();
  const block = new Uint16Array(AT_ONCE * hidden);
  for (let start = 0; start < rows; start += AT_ONCE) {
    const count = Math.min(AT_ONCE, rows - start) * hidden;
    for (let i = 0; i < count; i++) block[i] = next();
    handle.write(block.subarray(0, count), { at: start * rowBytes });
  }
  handle.flush();
  handle.close();
}

/** The first `k` ids by float64 products, for each hidden state: an order of summation of its own. */
async function oracle({ descriptors, hidden, seeds, k }) {
  const wide = Float64Array.from(halves());
  const states = seeds.map((seed) => Float64Array.from(normal(hidden, seed)));
  const tops = states.map(() => []);
  for (const { path, first, rows } of descriptors) {
    const values = new Uint16Array(await (await fileOf(path)).arrayBuffer());
    states.forEach((state, i) => {
      for (let row = 0; row < rows; row++) {
        let sum = 0;
        for (let j = 0; j < hidden; j++) sum += wide[values[row * hidden + j]] * state[j];
        insert(tops[i], { id: first + row, sum }, k);
      }
    });
  }
  return tops.map((top) => ({ ids: top.map(({ id }) => id), logits: top.map(({ sum }) => sum) }));
}

async function fileOf([folder, name]) {
  const root = await navigator.storage.getDirectory();
  const file = await (await root.getDirectoryHandle(folder)).getFileHandle(name);
  return file.getFile();
}
