// Embeds on request of another language. JSON on stdin: {"cases": [{table (base64), dtype, hidden, scale,
// compute, wire, ids}]}; on stdout, for each case, the base64 of its f32 rows, or {"code"} of the error.
import { readFileSync } from 'node:fs';
import { AppError } from '../../../src/common/errors.js';
import { Embedding } from '../../../src/generation/embedding.js';
import { widen } from '../../../src/protocol/floats.js';

/** @param {any} request */
async function embedded({ table, dtype, hidden, scale, compute, wire, ids }) {
  const values = widen(dtype, Uint8Array.from(Buffer.from(table, 'base64')));
  const rows = async (/** @type {Int32Array} */ wanted) => {
    const found = new Float32Array(wanted.length * hidden);
    wanted.forEach((id, i) => found.set(values.subarray(id * hidden, (id + 1) * hidden), i * hidden));
    return found;
  };
  try {
    const embedding = new Embedding(rows, hidden, scale, compute, values.length / hidden);
    const embeddings = await embedding.lookup(ids, wire);
    return Buffer.from(embeddings.slice().buffer).toString('base64');
  } catch (error) {
    if (error instanceof AppError) return { code: error.code };
    throw error;
  }
}

const { cases } = JSON.parse(readFileSync(0, 'utf8'));
const answers = [];
for (const request of cases) answers.push(await embedded(request));
process.stdout.write(JSON.stringify(answers));
