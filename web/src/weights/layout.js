/** @import { FileEntry, Manifest } from '../../types/gatelink.js' */
/** @import { Layout, Part, Piece } from './types.js' */
import { chunkSpan, rowBytes } from './manifest.js';

export const MAX_SHARDS = 64;

/**
 * How a model's files are cut into parts: the rows of each tensor into `shards` even runs, one for each
 * worker that will hold a part open alone; every other file whole. Names are made of numbers, since the
 * manifest's names are the server's.
 * @param {Manifest} manifest
 * @param {number} shards 1 to MAX_SHARDS
 * @returns {Layout}
 */
export function layoutOf(manifest, shards) {
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS)
    throw new RangeError('shards is out of range');
  const byFile = new Map();
  const firstChunk = new Map();
  let chunks = 0;
  manifest.files.forEach((entry, index) => {
    const bytes = rowBytes(manifest, entry.name);
    byFile.set(
      entry.name,
      bytes === null ? [wholePart(entry, index)] : rowParts(entry, index, bytes, shards),
    );
    firstChunk.set(entry.name, chunks);
    chunks += entry.chunks.length;
  });
  return { shards, parts: [...byFile.values()].flat(), byFile, firstChunk, chunks };
}

/**
 * Which parts the bytes of one chunk belong into; chunks and parts have no common borders.
 * @param {Layout} layout
 * @param {FileEntry} entry
 * @param {number} chunk
 * @param {Uint8Array} bytes the whole chunk; the pieces are views of it
 * @returns {Piece[]}
 */
export function piecesOf(layout, entry, chunk, bytes) {
  const { start, length } = chunkSpan(entry, chunk);
  const parts = layout.byFile.get(entry.name) ?? [];
  return parts.flatMap((part) => {
    const from = Math.max(start, part.start);
    const to = Math.min(start + length, part.start + part.size);
    return from < to
      ? [{ part, at: from - part.start, bytes: bytes.subarray(from - start, to - start) }]
      : [];
  });
}

/** @param {FileEntry} entry @param {number} index @returns {Part} */
function wholePart(entry, index) {
  return { name: `f${index}`, start: 0, size: entry.size, rowBytes: null, firstRow: 0, rows: 0 };
}

/** @param {FileEntry} entry @param {number} index @param {number} bytes of a row @param {number} shards */
function rowParts(entry, index, bytes, shards) {
  const total = entry.size / bytes;
  const count = Math.min(shards, total);
  const border = (/** @type {number} */ shard) => Math.floor((shard * total) / count);
  return Array.from({ length: count }, (_, shard) => {
    const firstRow = border(shard);
    const rows = border(shard + 1) - firstRow;
    const name = `f${index}s${shard}`;
    return { name, start: firstRow * bytes, size: rows * bytes, rowBytes: bytes, firstRow, rows };
  });
}
