// The compression function of BLAKE2b (RFC 7693, 3.2) as WebAssembly, written out here: JavaScript has no
// fast arithmetic of 64 bits. The module exports `memory` and `compress(block, counted, last)`: addresses and
// counts in bytes; `last` -1 for the last block, else 0. The state is h[0..7] at address 0, little-endian;
// behind it lies which words each round takes, so that one round's instructions do for all.

// Bytes of the instructions (WebAssembly specification, 5.4).
const OP = {
  loop: 0x03, end: 0x0b, branchIf: 0x0d, localGet: 0x20, localSet: 0x21, localTee: 0x22,
  i64Load: 0x29, i32LoadByte: 0x2d, i64Store: 0x37, i32Const: 0x41, i64Const: 0x42, i32Less: 0x49,
  i32Add: 0x6a, i64Add: 0x7c, i64Xor: 0x85, i64Rotr: 0x8a, i64FromSigned: 0xac, i64FromUnsigned: 0xad,
};
const [NOTHING, I32, I64, FUNCTION] = [0x40, 0x7f, 0x7e, 0x60];
// Locals: the parameters, v[0..15], where the words of the round are named.
const [BLOCK, COUNTED, LAST, FIRST, WORDS] = [0, 1, 2, 3, 19];
const ROUNDS = 12;
const WORDS_AT = 64;
const WORDS_END = WORDS_AT + 16 * ROUNDS;

/** Where in the memory nothing lies. */
export const FREE = WORDS_END;

/** The initial values: fractional parts of square roots, RFC 7693, 2.6. */
export const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
// RFC 7693, 2.7: which words of the block each round takes, in hexadecimal digits.
const SIGMA = [
  '0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8', '905724afe1bc683d',
  '2c6a0b834d75fe19', 'c51fed4a0763928b', 'db7ec13950f4862a', '6fe9b308c2d714a5', 'a2847615fb9e3cd0',
];
// Columns, then diagonals of the state (RFC 7693, 3.2).
const MIXED = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];

/** @returns {Uint8Array<ArrayBuffer>} the module */
export function blake2bCode() {
  const text = (/** @type {string} */ name) => list([...new TextEncoder().encode(name)]);
  return Uint8Array.from([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // magic, version
    ...section(1, [[FUNCTION, 3, I32, I32, I32, 0]]), // types
    ...section(3, [[0]]), // functions: one, of type 0
    ...section(5, [[0, 1]]), // memories: one, of one page or more
    ...section(7, [[...text('memory'), 2, 0], [...text('compress'), 0, 0]]), // exports
    ...section(10, [list([2, 16, I64, 1, I32, ...compression(), OP.end])]), // code, after its locals
    ...section(11, [[0, ...address(WORDS_AT), OP.end, ...list(wordsOfRounds())]]), // what the memory holds
  ]);
}

function compression() {
  const code = [];
  for (let i = 0; i < 8; i++) code.push(...state(i), OP.localSet, FIRST + i);
  for (let i = 0; i < 8; i++) code.push(OP.i64Const, ...signed(IV[i]), OP.localSet, FIRST + 8 + i);
  code.push(...changed(12, [OP.localGet, COUNTED, OP.i64FromUnsigned, OP.i64Xor]));
  code.push(...changed(14, [OP.localGet, LAST, OP.i64FromSigned, OP.i64Xor]));
  code.push(...address(WORDS_AT), OP.localSet, WORDS, OP.loop, NOTHING);
  MIXED.forEach((places, i) => code.push(...mixing(places, 2 * i)));
  code.push(OP.localGet, WORDS, ...address(16), OP.i32Add, OP.localTee, WORDS);
  code.push(...address(WORDS_END), OP.i32Less, OP.branchIf, 0, OP.end);
  for (let i = 0; i < 8; i++) {
    const sum = [...state(i), ...value(i), OP.i64Xor, ...value(8 + i), OP.i64Xor];
    code.push(OP.i32Const, 0, ...sum, OP.i64Store, 3, 8 * i);
  }
  return code;
}

/**
 * G of RFC 7693, 3.1.
 * @param {number[]} places of the state @param {number} nth its first word of the round's
 */
function mixing([a, b, c, d], nth) {
  const plus = (/** @type {number} */ other) => [...value(other), OP.i64Add];
  const turned = (/** @type {number} */ other, /** @type {number} */ bits) =>
    [...value(other), OP.i64Xor, OP.i64Const, ...signed(BigInt(bits)), OP.i64Rotr];
  const half = (/** @type {number} */ word, /** @type {number} */ first, /** @type {number} */ second) => [
    ...changed(a, [...plus(b), ...wordOf(word), OP.i64Add]), ...changed(d, turned(a, first)),
    ...changed(c, plus(d)), ...changed(b, turned(c, second)),
  ];
  return [...half(nth, 32, 24), ...half(nth + 1, 16, 63)];
}

/** A word of the block. @param {number} nth of the round */
const wordOf = (nth) =>
  [OP.localGet, BLOCK, OP.localGet, WORDS, OP.i32LoadByte, 0, nth, OP.i32Add, OP.i64Load, 0, 0];

/** Where in the block the words of all rounds begin. */
function wordsOfRounds() {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => SIGMA[round % SIGMA.length]);
  return [...rounds.join('')].map((digit) => 8 * parseInt(digit, 16));
}

/** @param {number} place */
const address = (place) => [OP.i32Const, ...signed(BigInt(place))];

/** v[i]. @param {number} i */
const value = (i) => [OP.localGet, FIRST + i];

/** v[i] becomes what `code` makes of it. @param {number} i @param {number[]} code */
const changed = (i, code) => [...value(i), ...code, OP.localSet, FIRST + i];

/** h[i]. @param {number} i */
const state = (i) => [OP.i32Const, 0, OP.i64Load, 3, 8 * i];

/** @param {number} id @param {number[][]} entries */
const section = (id, entries) => [id, ...list([entries.length, ...entries.flat()])];

/** @param {number[]} bytes preceded by their number, as LEB128 */
function list(bytes) {
  const length = [];
  for (let rest = bytes.length; rest > 0x7f; rest >>>= 7) length.push((rest & 0x7f) | 0x80);
  length.push(bytes.length >>> (7 * length.length));
  return [...length, ...bytes];
}

/** As signed LEB128. @param {bigint} number of 64 bits */
function signed(number) {
  const bytes = [];
  for (let rest = BigInt.asIntN(64, number); ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest >> 6n === 0n || rest >> 6n === -1n) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}
