/** Whole numbers from -2^31 to 2^31 - 1 that grow and are cut at their end, 4 to 8 bytes each. */
export class Grown {
  constructor() {
    this._values = new Int32Array(64);
    this.length = 0;
  }

  /** @param {number} index 0..length-1 */
  at(index) {
    return this._values[index];
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this._values.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this._values);
      this._values = larger;
    }
    this._values[this.length++] = value;
  }

  /** The last one, which goes. */
  pop() {
    return this._values[--this.length];
  }

  /** @param {number} start @returns {number[]} from `start` to the end */
  from(start) {
    return [...this._values.subarray(start, this.length)];
  }
}
