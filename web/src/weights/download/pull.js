/** @import { FileEntry, Manifest } from '../../../types/gatelink.js' */
/** @import { ReadBytes } from './http_reader.js' */
/** @import { Journal } from './journal.js' */
/** @import { Layout, Writer } from '../types.js' */
import { AppError } from '../../common/errors.js';
import { ConnectionLost, DownloadDamaged, DownloadFailed, Paused } from '../errors.js';
import { Journal as Marks } from './journal.js';
import { Told } from './told.js';
import { piecesOf } from '../layout.js';
import { chunkSpan } from '../manifest.js';
import { sha256 } from '../sha256.js';

export const MAX_TRIES = 6;
const MAX_DAMAGED = 4;
const LONGEST_DELAY = 10;
// A server may ask for more patience than a person has.
const LONGEST_RETRY_AFTER = 60;

/**
 * `done`, `total`, `resumed` (what was there before) count bytes over all files, those of a chunk that is on
 * its way among them; `retrying` says why and for how many seconds the download waits, if it does.
 * @typedef {{done: number, total: number, resumed: number, retrying: {code: string, delay: number}|null}}
 *   Progress
 */

/**
 * @typedef {object} PullOptions
 * @property {ReadBytes} read
 * @property {AbortSignal} [signal]
 * @property {(progress: Progress) => void} [onProgress]
 * @property {(seconds: number, signal?: AbortSignal) => Promise<void>} [pause] ends early when the signal
 *   aborts
 * @property {() => number} [chance] uniform in [0, 1)
 * @property {ConstructorParameters<typeof Told>[1]} [clock]
 */

/** Fetches what a journal says is missing: one chunk at a time, verified, kept, and only then the next. */
export class Puller {
  /**
   * @param {Manifest} manifest
   * @param {Layout} layout
   * @param {Journal} journal as it is at the start
   * @param {Writer} writer
   * @param {PullOptions} options
   */
  constructor(
    manifest,
    layout,
    journal,
    writer,
    { read, signal, onProgress, pause = wait, chance = Math.random, clock },
  ) {
    this.writer = writer;
    this.layout = layout;
    this.read = read;
    this.signal = signal;
    this.onProgress = onProgress ?? (() => {});
    this.pause = pause;
    this.chance = chance;
    this.told = new Told(() => this.#report(null), clock);
    /** Bytes of the chunk that is on its way. */
    this.received = 0;
    this.missing = missingChunks(manifest, layout, journal);
    this.total = manifest.size;
    this.resumed = manifest.size - missingBytes(manifest, layout, journal);
    this.done = this.resumed;
  }

  /**
   * Raises Paused, DownloadDamaged, DownloadFailed, what `read` throws for good, and the store's own errors.
   */
  async run() {
    if (!this.missing.length) this.told.now();
    try {
      for (const [entry, chunk] of this.missing) await this.#fetch(entry, chunk);
    } finally {
      this.told.end();
    }
    await this.writer.seal(Marks.SEAL);
  }

  /** @param {FileEntry} entry @param {number} chunk */
  async #fetch(entry, chunk) {
    for (let failures = 1, damaged = 1; ;) {
      if (this.signal?.aborted) throw new Paused();
      try {
        if (await this.#fetchOnce(entry, chunk)) return;
        if (damaged >= MAX_DAMAGED) throw new DownloadDamaged(entry.name, chunk);
        damaged += 1;
      } catch (error) {
        await this.#waitOrGiveUp(entry, error, failures);
        failures += 1;
      }
    }
  }

  /** False where the bytes are not the manifest's. @param {FileEntry} entry @param {number} chunk */
  async #fetchOnce(entry, chunk) {
    const { start, length } = chunkSpan(entry, chunk);
    const bytes = await this.read(entry.name, start, start + length - 1, this.signal, (received) => {
      this.received = received;
      this.told.soon();
    });
    this.received = 0;
    if (bytes.length !== length) throw new ConnectionLost('the answer ended early');
    if ((await sha256(bytes)) !== entry.chunks[chunk]) return false;
    const first = this.layout.firstChunk.get(entry.name) ?? 0;
    await this.writer.keep(piecesOf(this.layout, entry, chunk, bytes), Marks.at(first + chunk));
    this.done += length;
    this.told.now();
    return true;
  }

  /** @param {FileEntry} entry @param {unknown} error @param {number} failures */
  async #waitOrGiveUp(entry, error, failures) {
    if (!(error instanceof AppError) || !error.retryable) throw error;
    if (failures >= MAX_TRIES) throw new DownloadFailed(entry.name, error.message, error);
    const asked = Number(/** @type {{retryAfter?: number|null}} */ (error).retryAfter ?? 0);
    const backoff = Math.min(LONGEST_DELAY, 0.25 * 2 ** failures) * (0.5 + this.chance() / 2);
    const delay = Math.max(backoff, Math.min(asked, LONGEST_RETRY_AFTER));
    this.told.end();
    this.#report({ code: error.code, delay });
    await this.pause(delay, this.signal);
  }

  /** @param {Progress['retrying']} retrying */
  #report(retrying) {
    const done = this.done + this.received;
    this.onProgress({ done, total: this.total, resumed: this.resumed, retrying });
  }
}

/**
 * @param {Manifest} manifest
 * @param {Layout} layout
 * @param {Journal} journal
 * @returns {[FileEntry, number][]}
 */
export function missingChunks(manifest, layout, journal) {
  return manifest.files.flatMap((entry) => {
    const first = layout.firstChunk.get(entry.name) ?? 0;
    const numbers = [...entry.chunks.keys()].filter((chunk) => !journal.has(first + chunk));
    return numbers.map((chunk) => /** @type {[FileEntry, number]} */ ([entry, chunk]));
  });
}

/** @param {Manifest} manifest @param {Layout} layout @param {Journal} journal */
export function missingBytes(manifest, layout, journal) {
  const missing = missingChunks(manifest, layout, journal);
  return missing.reduce((sum, [entry, chunk]) => sum + chunkSpan(entry, chunk).length, 0);
}

/** @param {number} seconds @param {AbortSignal} [signal] @returns {Promise<void>} */
function wait(seconds, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, 1000 * seconds);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
  });
}
