/** @import { ShardDescriptor, ShardReader } from '../../types/gatelink.js' */
import { claim } from './claims.js';
import { storageError } from './errors.js';
import { IndexedDbShard } from './indexeddb/shard.js';
import { MemoryShard } from './memory/shard.js';
import { OpfsShard } from './opfs/shard.js';

const READERS = { opfs: OpfsShard, indexeddb: IndexedDbShard };

/**
 * Open a run of rows in the worker that will read it. The model is held against deletion until `close`.
 * Reading is synchronous for kinds 'opfs' (unless another tab holds the file alone) and 'memory'; index
 * errors are RangeErrors.
 * @param {ShardDescriptor} descriptor
 * @returns {Promise<ShardReader>}
 * @throws {import('../common/errors.js').AppError} 'model_in_use', 'store_failed'
 */
export async function openShard(descriptor) {
  if (descriptor.kind === 'memory') return new MemoryShard(descriptor);
  const release = await claim(digestOf(descriptor), { exclusive: false });
  try {
    const reader = await READERS[descriptor.kind].open(descriptor);
    return closingWith(reader, release);
  } catch (error) {
    release();
    throw storageError(error);
  }
}

/** The part's name comes last, its model before it. @param {ShardDescriptor} descriptor */
function digestOf({ path }) {
  return path[path.length - 2];
}

/** @template {ShardReader} T @param {T} reader @param {() => void} release @returns {T} */
function closingWith(reader, release) {
  const close = reader.close.bind(reader);
  reader.close = () => {
    close();
    release();
  };
  return reader;
}
