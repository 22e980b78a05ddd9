import { StorageFull } from '../errors.js';

const OPEN_TRIES = 10;
const RETRY_MS = 100;

/**
 * A file opened alone for reading and writing; made where it is missing. A worker that was just ended holds
 * its files for a moment longer.
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} name
 */
export async function openWritable(folder, name) {
  const file = await folder.getFileHandle(name, { create: true });
  return openPatiently(() => file.createSyncAccessHandle());
}

/**
 * @template T
 * @param {() => Promise<T>} open
 * @param {number} [tries]
 * @returns {Promise<T>}
 */
export async function openPatiently(open, tries = OPEN_TRIES) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (thrown) {
      const error = asInStandard(thrown);
      if (attempt >= tries || !isLocked(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Whether someone else holds the file. @param {unknown} error */
export function isLocked(error) {
  return error instanceof DOMException && error.name === 'NoModificationAllowedError';
}

/**
 * Opening a file that someone else holds is refused with NoModificationAllowedError
 * (https://fs.spec.whatwg.org/#api-filesystemfilehandle-createsyncaccesshandle); WebKit says
 * InvalidStateError.
 * @param {unknown} error of createSyncAccessHandle
 */
function asInStandard(error) {
  const held = error instanceof DOMException && error.name === 'InvalidStateError';
  return held ? new DOMException(error.message, 'NoModificationAllowedError') : error;
}

/**
 * Throws where no file can be opened for writing: WebKitGTK has the method without anything behind it. A file
 * of its own, as one that was refused there counts as held from then on. A full disk is no such reason.
 * @param {FileSystemDirectoryHandle} folder
 */
export async function tryOpening(folder) {
  const name = `probe-${crypto.randomUUID()}`;
  try {
    (await openWritable(folder, name)).close();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) throw error;
  } finally {
    await folder.removeEntry(name).catch(() => {});
  }
}

/**
 * Chromium's private windows tell a full disk by a count that cannot be (a negative one, as an unsigned
 * number).
 * @param {FileSystemSyncAccessHandle} handle @param {Uint8Array} bytes @param {number} at
 */
export function writeAll(handle, bytes, at) {
  let done = 0;
  while (done < bytes.length) {
    const rest = /** @type {BufferSource & Uint8Array} */ (bytes.subarray(done));
    const written = handle.write(rest, { at: at + done });
    if (!(written > 0 && written <= rest.length)) throw new StorageFull('it takes no more');
    done += written;
  }
}

/**
 * Asks for all the room at once, so that a quota shows before anything is fetched. Chromium's private windows
 * leave the file shorter without a word.
 * @param {FileSystemSyncAccessHandle} handle @param {number} size bytes
 */
export function reserve(handle, size) {
  if (handle.getSize() < size) handle.truncate(size);
  if (handle.getSize() < size) throw new StorageFull('it takes no more');
}

/**
 * A small file, whole; durable when it ends.
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} name
 * @param {Uint8Array} bytes
 */
export async function writeFile(folder, name, bytes) {
  const handle = await openWritable(folder, name);
  try {
    handle.truncate(0);
    writeAll(handle, bytes, 0);
    handle.flush();
  } finally {
    handle.close();
  }
}

/** Closing twice does nothing. @param {Iterable<FileSystemSyncAccessHandle>} handles */
export function closeAll(handles) {
  for (const handle of handles) handle.close();
}
