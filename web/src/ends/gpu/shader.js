/** Rows of a workgroup, one to a thread. */
export const WORKGROUP = 64;
/** Bytes of a block of the activation as the shader reads it. */
export const BLOCK_BYTES = 80;

/** Lets four int8 products be one instruction where a GPU has it. */
const PACKED = 'packed_4x8_integer_dot_product';

const DOT_PACKED = 'fn dot4(u: u32, x: u32) -> i32 { return dot4I8Packed(u, x); }';
const DOT_PLAIN = `
fn signed(word: u32, at: u32) -> i32 { return extractBits(bitcast<i32>(word), 8u * at, 8u); }
fn dot4(u: u32, x: u32) -> i32 {
  return signed(u, 0u) * signed(x, 0u) + signed(u, 1u) * signed(x, 1u)
    + signed(u, 2u) * signed(x, 2u) + signed(u, 3u) * signed(x, 3u);
}`;

/** Whether `dot4I8Packed` is there. @param {GPU} gpu */
export function hasPackedDot(gpu) {
  return gpu.wgslLanguageFeatures?.has(PACKED) ?? false;
}

/**
 * WGSL of the estimates: one thread sums a row's blocks, the integers of each exactly.
 *
 * Row 64 g + t belongs to thread t of workgroup g, and what the 64 threads read at a time lies together:
 * `levels` [groups, blocks, 2, 64] x 16 bytes, each 32 columns' levels + 8 (of every eight the first four in
 * the low halves of four bytes, the others in the high ones); `scales` [groups, blocks / 2 rounded up, 64]
 * x two bf16, the even block's in the low half.
 * @param {number} blocks of 64 columns in a row @param {boolean} packed whether `dot4I8Packed` may be used
 */
export function shaderOf(blocks, packed) {
  return `
const BLOCKS = ${blocks}u;
const PAIRS = ${Math.ceil(blocks / 2)}u;

// x: int8; sum: 8 times their sum.
struct Block { x: array<vec4<u32>, 4>, step: f32, sum: i32 }

@group(0) @binding(0) var<uniform> activation: array<Block, BLOCKS>;
@group(0) @binding(1) var<storage, read> levels: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> scales: array<u32>;
@group(0) @binding(3) var<storage, read_write> estimates: array<f32>;
${packed ? DOT_PACKED : DOT_PLAIN}

fn dot32(u: vec4<u32>, x: vec4<u32>, y: vec4<u32>) -> i32 {
  let low = u & vec4<u32>(0x0f0f0f0fu);
  let high = (u >> vec4<u32>(4u)) & vec4<u32>(0x0f0f0f0fu);
  return dot4(low.x, x.x) + dot4(high.x, x.y) + dot4(low.y, x.z) + dot4(high.y, x.w)
    + dot4(low.z, y.x) + dot4(high.z, y.y) + dot4(low.w, y.z) + dot4(high.w, y.w);
}

@compute @workgroup_size(${WORKGROUP})
fn estimate(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  var sum = 0.0;
  for (var block = 0u; block < BLOCKS; block++) {
    let at = (group.x * BLOCKS + block) * ${2 * WORKGROUP}u + thread;
    let first = dot32(levels[at], activation[block].x[0], activation[block].x[1]);
    let second = dot32(levels[at + ${WORKGROUP}u], activation[block].x[2], activation[block].x[3]);
    let pair = scales[(group.x * PAIRS + block / 2u) * ${WORKGROUP}u + thread];
    let scale = bitcast<f32>(select(pair << 16u, pair & 0xffff0000u, (block & 1u) == 1u));
    sum += f32(first + second - activation[block].sum) * (scale * activation[block].step);
  }
  estimates[group.x * ${WORKGROUP}u + thread] = sum;
}
`;
}
