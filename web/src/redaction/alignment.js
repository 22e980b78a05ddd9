// Which part of one text stands for which part of another, where some of its pieces were replaced.

/** Units `from` to `to` (exclusive) of the first text are those `at` to `end` of the second. @typedef {{from: number, to: number, at: number, end: number}} Piece */

/** Places are UTF-16 units. Within a piece they go by shares, so that each token of a surrogate has a part of the value. */
export class Alignment {
  /** @param {readonly Piece[]} pieces in order and apart @param {number} first length of the first text @param {number} second */
  constructor(pieces, first, second) {
    this.pieces = pieces;
    this.first = first;
    this.second = second;
  }

  /** Of a text in which nothing was replaced. @param {string} text */
  static same(text) {
    return new Alignment([], text.length, text.length);
  }

  /** The other way round. */
  get back() {
    const pieces = this.pieces.map(({ from, to, at, end }) => ({ from: at, to: end, at: from, end: to }));
    return new Alignment(pieces, this.second, this.first);
  }

  /** The place in the second text of one in the first. @param {number} place */
  of(place) {
    let [first, second] = [0, 0];
    for (const { from, to, at, end } of this.pieces) {
      if (place < from) break;
      if (place < to) return at + Math.floor(((place - from) * (end - at)) / (to - from));
      [first, second] = [to, end];
    }
    return Math.min(this.second, second + place - first);
  }

  /** Whole pieces alone: what begins or ends within one has all of it. @param {number} from @param {number} to exclusive */
  around(from, to) {
    const within = (/** @type {number} */ place) => this.pieces.find((piece) => piece.from < place && place < piece.to);
    return [within(from)?.at ?? this.of(from), within(to)?.end ?? this.of(to)];
  }

  /** A value of each unit of the first text, as the second has them. @param {Uint16Array} units */
  carried(units) {
    const { back } = this;
    const own = new Uint16Array(this.second);
    let [first, second] = [0, 0];
    // One pass: a chat of megabytes has thousands of pieces.
    for (const { from, to, at, end } of [...back.pieces, { from: this.second, to: this.second, at: this.first, end: this.first }]) {
      own.set(units.subarray(first, first + from - second), second);
      for (let i = from; i < to; i++) own[i] = units[at + Math.floor(((i - from) * (end - at)) / (to - from))];
      [first, second] = [end, to];
    }
    return own;
  }
}
