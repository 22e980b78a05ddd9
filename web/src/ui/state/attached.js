import { signal } from '@preact/signals';
import { AttachmentRefused, MOST_FILES, readAttached, withFiles } from '../../chats/attachments.js';

/** @typedef {import('../../chats/attachments.js').Attached} File */

/** The text files that go with the next message. */
export class AttachedFiles {
  constructor() {
    /** @type {import('@preact/signals').Signal<File[]>} */
    this.waiting = signal([]);
  }

  /** Takes files, all or none. @param {globalThis.File[]} files throws AttachmentRefused */
  async add(files) {
    const most = () => {
      if (this.waiting.value.length + files.length <= MOST_FILES) return;
      throw new AttachmentRefused(files[0].name, `${MOST_FILES} files go with one message; send it`);
    };
    most();
    const read = await Promise.all(files.map(readAttached));
    // Others may have come while these were read.
    most();
    this.waiting.value = [...this.waiting.value, ...read];
  }

  /** @param {File} file */
  remove(file) {
    this.waiting.value = this.waiting.value.filter((each) => each !== file);
  }

  /** A message with the files that wait. @param {string} message */
  with(message) {
    return withFiles(message, this.waiting.value);
  }

  /** Those of a message that is not sent after all, before what was chosen since. @param {readonly File[]} files */
  putBack(files) {
    this.waiting.value = [...files, ...this.waiting.value];
  }

  clear() {
    this.waiting.value = [];
  }
}
