// SHAKE-256 (FIPS 202): a stream of bytes that follow from one short text.
//
// A state is 25 lanes of 64 bits, lane x + 5 y at byte 8 (x + 5 y); `state` is where the host laid it.

const RATE: usize = 136;
const SUFFIX: u8 = 0x1f;
const LAST: u8 = 0x80;
const ROUNDS: usize = 24;

const CONSTANTS: usize = memory.data<u64>([
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
]);
// Along the one cycle that the lanes but the first go: where each goes, in bytes, and by how many bits it turns.
const PLACES: usize = memory.data<u8>([
  80, 56, 88, 136, 144, 24, 40, 128, 64, 168, 192, 32, 120, 184, 152, 104, 96, 16, 160, 112, 176, 72, 48, 8,
]);
const TURNS: usize = memory.data<u8>([
  1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
]);

let state: usize = 0;
/** Bytes of the block that were taken. */
let taken: usize = 0;

/** The parity of a column. @param x 8 times its number */
// @ts-ignore: decorator
@inline
function parity(x: usize): u64 {
  const at = state + x;
  return load<u64>(at) ^ load<u64>(at, 40) ^ load<u64>(at, 80) ^ load<u64>(at, 120) ^ load<u64>(at, 160);
}

// @ts-ignore: decorator
@inline
function blend(x: usize, value: u64): void {
  const at = state + x;
  store<u64>(at, load<u64>(at) ^ value);
  store<u64>(at, load<u64>(at, 40) ^ value, 40);
  store<u64>(at, load<u64>(at, 80) ^ value, 80);
  store<u64>(at, load<u64>(at, 120) ^ value, 120);
  store<u64>(at, load<u64>(at, 160) ^ value, 160);
}

function theta(): void {
  const c0 = parity(0);
  const c1 = parity(8);
  const c2 = parity(16);
  const c3 = parity(24);
  const c4 = parity(32);
  blend(0, c4 ^ rotl<u64>(c1, 1));
  blend(8, c0 ^ rotl<u64>(c2, 1));
  blend(16, c1 ^ rotl<u64>(c3, 1));
  blend(24, c2 ^ rotl<u64>(c4, 1));
  blend(32, c3 ^ rotl<u64>(c0, 1));
}

function rhoAndPi(): void {
  let carried = load<u64>(state, 8);
  for (let i: usize = 0; i < 24; i++) {
    const at = state + <usize>load<u8>(PLACES + i);
    const next = load<u64>(at);
    store<u64>(at, rotl<u64>(carried, <u64>load<u8>(TURNS + i)));
    carried = next;
  }
}

/** One row. @param y 40 times its number */
// @ts-ignore: decorator
@inline
function chi(y: usize): void {
  const at = state + y;
  const b0 = load<u64>(at);
  const b1 = load<u64>(at, 8);
  const b2 = load<u64>(at, 16);
  const b3 = load<u64>(at, 24);
  const b4 = load<u64>(at, 32);
  store<u64>(at, b0 ^ (~b1 & b2));
  store<u64>(at, b1 ^ (~b2 & b3), 8);
  store<u64>(at, b2 ^ (~b3 & b4), 16);
  store<u64>(at, b3 ^ (~b4 & b0), 24);
  store<u64>(at, b4 ^ (~b0 & b1), 32);
}

function permute(): void {
  for (let round: usize = 0; round < ROUNDS; round++) {
    theta();
    rhoAndPi();
    chi(0);
    chi(40);
    chi(80);
    chi(120);
    chi(160);
    store<u64>(state, load<u64>(state) ^ load<u64>(CONSTANTS + (round << 3)));
  }
}

/** Begins the stream of `length` bytes at `source`, fewer than 136, with its state (200 bytes) at `at`. */
export function begin(at: usize, source: usize, length: usize): void {
  state = at;
  memory.fill(at, 0, 200);
  memory.copy(at, source, length);
  store<u8>(at + length, SUFFIX);
  store<u8>(at + RATE - 1, load<u8>(at + RATE - 1) ^ LAST);
  permute();
  taken = 0;
}

/** The next `count` bytes of the stream, at `target`. */
export function squeeze(target: usize, count: usize): void {
  while (count > 0) {
    if (taken == RATE) {
      permute();
      taken = 0;
    }
    const part = min<usize>(count, RATE - taken);
    memory.copy(target, state + taken, part);
    taken += part;
    target += part;
    count -= part;
  }
}
