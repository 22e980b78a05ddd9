/** The rows used last, in one buffer. */
export class RowCache {
  /** @param {number} limit rows @param {number} rowBytes */
  constructor(limit, rowBytes) {
    this.limit = limit;
    this.rowBytes = rowBytes;
    // Memory that nothing was written to takes no room yet.
    this.bytes = new Uint8Array(limit * rowBytes);
    /** @type {Map<number, number>} where a row lies, by its index, in the order of their last use */
    this.slots = new Map();
  }

  /**
   * Copies a row to `at`, false: it is not there.
   * @param {number} index @param {Uint8Array} into @param {number} at
   */
  copy(index, into, at) {
    const slot = this.slots.get(index);
    if (slot === undefined) return false;
    this.#use(index, slot);
    into.set(this.bytes.subarray(slot * this.rowBytes, (slot + 1) * this.rowBytes), at);
    return true;
  }

  /**
   * Keeps a row in place of the one that was not used for longest.
   * @param {number} index @param {Uint8Array} row
   */
  keep(index, row) {
    // Cleared while a reading was under way.
    if (this.bytes.length === 0) return;
    const slot = this.slots.get(index) ?? this.#freeSlot();
    this.#use(index, slot);
    this.bytes.set(row, slot * this.rowBytes);
  }

  clear() {
    this.slots.clear();
    this.bytes = new Uint8Array();
  }

  /** @param {number} index @param {number} slot */
  #use(index, slot) {
    this.slots.delete(index);
    this.slots.set(index, slot);
  }

  #freeSlot() {
    if (this.slots.size < this.limit) return this.slots.size;
    const [[oldest, slot]] = this.slots;
    this.slots.delete(oldest);
    return slot;
  }
}
