// What is told of a server that lets this device wait.

/** @typedef {import('../transport/losses.js').ChannelNotice} ChannelNotice */

// Seconds until a session that does not open is told of.
const SILENT = 2;

/** Tells that the server lets this device wait, and once that it does no more. */
export class Waiting {
  /** @param {(notice: ChannelNotice) => void} tell @param {import('../transport/timer.js').After} later */
  constructor(tell, later) {
    this._tell = tell;
    this._later = later;
    this._told = false;
  }

  /** @param {string} code why @param {number} delay */
  told(code, delay) {
    this._told = true;
    this._tell({ type: 'waiting', code, delay });
  }

  /** The server has answered what it was asked. */
  over() {
    if (this._told) this._tell({ type: 'waited' });
    this._told = false;
  }

  /**
   * A session is opened, for which a server may let newcomers wait without a word.
   * @template T @param {() => Promise<T>} opening @returns {Promise<T>}
   */
  async during(opening) {
    const callOff = this._later(SILENT, () => this._told || this.told('opening', 0));
    try {
      return await opening();
    } finally {
      callOff();
    }
  }
}
