// Rows by name, as a server is asked for them.
import { Tensor } from '../protocol/tensor.js';
import { Cancelled } from '../transport/errors.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('../protocol/digest.js').PrefixChain} PrefixChain */

// Rows that are named at a time.
const AT_ONCE = 512;

/**
 * The names of all prefixes of `rows` as they travel in `dtype`. Other work of this thread goes on meanwhile.
 * @param {PrefixChain} chain an empty one, which they are added to
 * @param {import('./backend.js').Rows} rows
 * @param {{hiddenSize: number, dtype: DType, signal: AbortSignal}} options
 * @returns {Promise<PrefixChain>} `chain`
 * @throws {Cancelled}
 */
export async function named(chain, { length, part }, { hiddenSize, dtype, signal }) {
  while (chain.length < length) {
    const rows = await part(chain.length, Math.min(chain.length + AT_ONCE, length), dtype);
    if (signal.aborted) throw new Cancelled();
    chain.replace(chain.length, chain.following(chain.length, Tensor.fromF32(rows, hiddenSize, dtype)));
  }
  return chain;
}
