/** @import { FileEntry, Manifest } from '../../../types/gatelink.js' */
/** @import { Form } from './blocks.js' */
/** @import { ReadBytes } from './http_reader.js' */
/** @import { Journal } from './journal.js' */
/** @import { Layout, Writer } from '../types.js' */
import { AppError } from '../../common/errors.js';
import { ConnectionLost, DownloadDamaged, DownloadFailed, Paused, ServerRefused } from '../errors.js';
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
 * `done`, `total`, `resumed` (what was there before) count bytes over all files as they travel, those of a
 * chunk that is on its way among them; `retrying` says why and for how many seconds the download waits, if it does.
 * @typedef {{done: number, total: number, resumed: number, retrying: {code: string, delay: number}|null}}
 *   Progress
 */

/**
 * @typedef {object} PullOptions
 * @property {ReadBytes} read
 * @property {Map<string, Form>} [forms] of files that travel packed, by name; those that are of no use leave
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
    { read, forms = new Map(), signal, onProgress, pause = wait, chance = Math.random, clock },
  ) {
    this.writer = writer;
    this.layout = layout;
    this.read = read;
    this.forms = forms;
    this.signal = signal;
    this.onProgress = onProgress ?? (() => {});
    this.pause = pause;
    this.chance = chance;
    this.told = new Told(() => this.#report(null), clock);
    /** Bytes of the chunk that is on its way. */
    this.received = 0;
    this.missing = missingChunks(manifest, layout, journal);
    const size = manifest.files.reduce((sum, entry) => sum + this.#sized(entry, entry.size), 0);
    this.resumed = size - this.#left();
    this.done = this.resumed;
  }

  /**
   * Raises Paused, DownloadDamaged, DownloadFailed, what `read` throws for good, and the store's own errors.
   */
  async run() {
    if (!this.missing.length) this.told.now();
    try {
      while (this.missing.length) await this.#fetch(...this.missing[0]);
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
        // Once may be the network's doing.
        if (damaged > 1 && this.forms.delete(entry.name)) damaged = 0;
        if (damaged >= MAX_DAMAGED) throw new DownloadDamaged(entry.name, chunk);
        damaged += 1;
      } catch (error) {
        const refused = error instanceof ServerRefused && !error.retryable;
        if (refused && this.forms.delete(entry.name)) continue;
        await this.#waitOrGiveUp(entry, error, failures);
        failures += 1;
      }
    }
  }

  /** False where the bytes are not the manifest's. @param {FileEntry} entry @param {number} chunk */
  async #fetchOnce(entry, chunk) {
    const form = this.forms.get(entry.name);
    const { start, length } = chunkSpan(entry, chunk);
    const from = this.#sized(entry, start);
    const size = this.#sized(entry, length);
    const came = await this.read(form?.name ?? entry.name, from, from + size - 1, this.signal, (received) => {
      this.received = received;
      this.told.soon();
    });
    this.received = 0;
    if (came.length !== size) throw new ConnectionLost('the answer ended early');
    const bytes = form ? form.unpacked(came) : came;
    if ((await sha256(bytes)) !== entry.chunks[chunk]) return false;
    const first = this.layout.firstChunk.get(entry.name) ?? 0;
    await this.writer.keep(piecesOf(this.layout, entry, chunk, bytes), Marks.at(first + chunk));
    this.missing.shift();
    this.done += size;
    this.told.now();
    return true;
  }

  /** Bytes that travel in place of some of a file's. @param {FileEntry} entry @param {number} bytes */
  #sized(entry, bytes) {
    return this.forms.get(entry.name)?.sized(bytes) ?? bytes;
  }

  /** Bytes that have to travel yet. */
  #left() {
    return bytesOf(this.missing, (entry, bytes) => this.#sized(entry, bytes));
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
    this.onProgress({ done, total: this.done + this.#left(), resumed: this.resumed, retrying });
  }
}

/**
 * @param {Manifest} manifest
 * @param {Layout} layout
 * @param {Journal} journal
 * @returns {[FileEntry, number][]}
 */
function missingChunks(manifest, layout, journal) {
  return manifest.files.flatMap((entry) => {
    const first = layout.firstChunk.get(entry.name) ?? 0;
    const all = entry.chunks.map((_, chunk) => /** @type {[FileEntry, number]} */ ([entry, chunk]));
    return all.filter(([, chunk]) => !journal.has(first + chunk));
  });
}

/** @param {Manifest} manifest @param {Layout} layout @param {Journal} journal */
export function missingBytes(manifest, layout, journal) {
  return bytesOf(missingChunks(manifest, layout, journal));
}

/** @param {[FileEntry, number][]} chunks @param {(entry: FileEntry, bytes: number) => number} [sized] */
function bytesOf(chunks, sized = (_, bytes) => bytes) {
  return chunks.reduce((sum, [entry, chunk]) => sum + sized(entry, chunkSpan(entry, chunk).length), 0);
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
