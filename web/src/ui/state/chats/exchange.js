/** @typedef {import('./library.js').Library} Library */

/** Chats that come from files and go into them; what goes wrong is told. */
export class Exchange {
  /** @param {Pick<Library, 'take' | 'document' | 'allDocuments'>} library @param {(error: unknown) => void} tell */
  constructor(library, tell) {
    this._library = library;
    this._tell = tell;
  }

  /** Takes in the chats of files. @param {Blob[]} files */
  async take(files) {
    await this._library.take(files).catch((error) => this._tell(error));
  }

  /**
   * Hands a file of one chat, or of all, to `save`.
   * @param {string | null} id null: all
   * @param {(name: string, blob: Blob) => void} save
   */
  async save(id, save) {
    try {
      const file = id === null ? await this._library.allDocuments() : await this._library.document(id);
      if (file) save(file.name, file.blob);
    } catch (error) {
      this._tell(error);
    }
  }
}
