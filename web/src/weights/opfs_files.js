import { StorageFull } from './errors.js';

const OPEN_TRIES = 10;
const RETRY_MS = 100;

/**
 * A file opened alone for reading and writing; made where it is missing. A worker that was just ended holds its files
 * for a moment longer.
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
    } catch (error) {
      if (attempt >= tries || !isLocked(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** Whether someone else holds the file. @param {unknown} error */
export function isLocked(error) {
  return error instanceof DOMException && error.name === 'NoModificationAllowedError';
}

/** @param {FileSystemSyncAccessHandle} handle @param {Uint8Array} bytes @param {number} at */
export function writeAll(handle, bytes, at) {
  let done = 0;
  while (done < bytes.length) {
    const written = handle.write(/** @type {BufferSource} */ (bytes.subarray(done)), { at: at + done });
    if (written === 0) throw new StorageFull('the disk takes no more');
    done += written;
  }
}

/** A small file, whole; durable when it ends. @param {FileSystemDirectoryHandle} folder @param {string} name @param {Uint8Array} bytes */
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
