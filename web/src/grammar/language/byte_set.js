// Sets of bytes: 256 bits in eight words.

/** @param {number} low @param {number} high inclusive @returns {Uint32Array} */
export function range(low, high) {
  const set = new Uint32Array(8);
  for (let byte = low; byte <= high; byte++) set[byte >> 5] |= 1 << (byte & 31);
  return set;
}

/** @param {Uint32Array} set @param {number} byte */
export function oneOf(set, byte) {
  return ((set[byte >> 5] >>> (byte & 31)) & 1) === 1;
}

/** @param {Uint32Array} one @param {Uint32Array} other */
export function union(one, other) {
  return one.map((word, place) => word | other[place]);
}

/** The only byte of a set; -1: it has none, null: it has several. @param {Uint32Array} set */
export function single(set) {
  let found = -1;
  for (let place = 0; place < 8; place++) {
    const word = set[place];
    if (word === 0) continue;
    if (found !== -1 || (word & (word - 1)) !== 0) return null;
    found = 32 * place + 31 - Math.clz32(word);
  }
  return found;
}
