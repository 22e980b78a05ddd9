// Works out a table's numbers on request of another language. JSON on stdin: [{rows (base64 of f32), width, sigma,
// most}], most: multiplications of the search; on stdout [{clip, exact, epsilon (at delta 1e-5)}].
import { readFileSync } from 'node:fs';
import { IDBFactory } from 'fake-indexeddb';
import { calibrate } from '../../src/noise/calibration.js';
import { NoiseDatabase } from '../../src/noise/database.js';
import { RowMechanism } from '../../src/noise/mechanism/mechanism.js';

/** @param {any} request */
async function worked({ rows, width, sigma, most }) {
  const values = new Float32Array(Uint8Array.from(Buffer.from(rows, 'base64')).buffer);
  const clean = async (/** @type {number[]} */ ids) =>
    Float32Array.from(ids.flatMap((id) => [...values.subarray(id * width, (id + 1) * width)]));
  const table = { clean, rows: values.length / width, width, sha256: 'ab'.repeat(32), scale: null };
  const database = new NoiseDatabase({ factory: /** @type {any} */ (new IDBFactory()) });
  const { clip, sensitivity, exact } = await calibrate(table, null, database, { mostProducts: most });
  return { clip, exact, epsilon: new RowMechanism({ sigma, clip, sensitivity, width }).epsilon(1e-5) };
}

const found = [];
for (const request of JSON.parse(readFileSync(0, 'utf8'))) found.push(await worked(request));
process.stdout.write(JSON.stringify(found));
