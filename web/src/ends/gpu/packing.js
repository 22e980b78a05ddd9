import { BLOCK, GROUP, PLANE_HEADER, planeSize } from '../plane/layout.js';
import { BLOCK_BYTES, WORKGROUP } from './shader.js';

/** @typedef {import('../plane/layout.js').Layout} Layout */
/** @typedef {{layout: Layout, memory: WebAssembly.Memory}} Place */

/** Words of 32 bits that a row's block has. */
const WORDS = 8;
/** Words of a block of the plane's eight rows, their scales included, and before these. */
const EIGHT_ROWS = planeSize(GROUP, 1) / 4;
const EIGHT_LEVELS = GROUP * WORDS;

/** Rows of a plane in WASM memory, in the order in which the GPU reads them. */
export class PlanePacker {
  /** @param {Place} place */
  constructor({ layout, memory }) {
    const { rows, blocks, planeRows, planeFile, padded } = layout;
    this.rows = rows;
    this.blocks = blocks;
    /** Groups of 64 rows. */
    this.groups = Math.ceil(rows / WORKGROUP);
    /** Words of 32 bits that a group has. */
    this.levelWords = blocks * WORDS * WORKGROUP;
    this.scaleWords = Math.ceil(blocks / 2) * WORKGROUP;
    this.columns = new Float32Array(memory.buffer, planeFile + PLANE_HEADER, padded).slice();
    /** The largest scale of each block so far, as bf16 without its sign. */
    this.peaks = new Uint16Array(blocks);
    this._words = new Uint32Array(memory.buffer, planeRows, planeSize(rows, blocks) / 4);
  }

  /**
   * `count` groups from `first` on; rows behind the last are zero.
   * @param {number} first @param {number} count
   * @param {Uint32Array} levels [count * levelWords] @param {Uint32Array} scales [count * scaleWords]
   */
  pack(first, count, levels, scales) {
    levels.fill(0);
    scales.fill(0);
    const end = Math.min(this.rows - first * WORKGROUP, count * WORKGROUP);
    for (let i = 0; i < end; i++) {
      const group = Math.floor(i / WORKGROUP);
      const levelsAt = group * this.levelWords + 4 * (i % WORKGROUP);
      const scalesAt = group * this.scaleWords + (i % WORKGROUP);
      const row = first * WORKGROUP + i;
      for (let block = 0; block < this.blocks; block++) {
        this._packLevels(row, block, levels, levelsAt + block * WORDS * WORKGROUP);
        const half = this._scaleOf(row, block);
        scales[scalesAt + (block >> 1) * WORKGROUP] |= half << (16 * (block & 1));
        this.peaks[block] = Math.max(this.peaks[block], half & 0x7fff);
      }
    }
  }

  /** Where a block of a row's eight begins, see wasm/plane.ts. @param {number} row @param {number} block */
  _eight(row, block) {
    return (Math.floor(row / GROUP) * this.blocks + block) * EIGHT_ROWS;
  }

  /** @param {number} row @param {number} block @param {Uint32Array} levels @param {number} at */
  _packLevels(row, block, levels, at) {
    const words = this._words;
    const from = this._eight(row, block) + (row % GROUP);
    for (let i = 0; i < 4; i++) {
      levels[at + i] = words[from + GROUP * i];
      levels[at + 4 * WORKGROUP + i] = words[from + GROUP * (4 + i)];
    }
  }

  /** @param {number} row @param {number} block @returns {number} bf16 */
  _scaleOf(row, block) {
    const pair = this._words[this._eight(row, block) + EIGHT_LEVELS + (row % 4)];
    return row % GROUP < 4 ? pair & 0xffff : pair >>> 16;
  }
}

/**
 * The activation as the shader reads it: of each block x, the step, 8 * sum of x, and 8 bytes of nothing.
 * @param {import('../plane/activation.js').ActivationViews} views @param {number} blocks
 * @returns {ArrayBuffer} [blocks * BLOCK_BYTES]
 */
export function packActivation({ bytes, factors }, blocks) {
  const packed = new ArrayBuffer(blocks * BLOCK_BYTES);
  const into = new Uint8Array(packed);
  const steps = new Uint8Array(factors.buffer, factors.byteOffset, 8 * blocks);
  for (let block = 0; block < blocks; block++) {
    const at = block * BLOCK_BYTES;
    into.set(new Uint8Array(bytes.buffer, bytes.byteOffset + block * BLOCK, BLOCK), at);
    into.set(steps.subarray(8 * block, 8 * block + 8), at + BLOCK);
  }
  return packed;
}
