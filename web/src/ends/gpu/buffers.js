import { GpuRefused } from './errors.js';
import { BLOCK_BYTES, WORKGROUP } from './shader.js';

/** @typedef {import('./deadline.js').Deadline} Deadline */
/** @typedef {import('./device.js').GpuDevice} GpuDevice */
/** @typedef {import('./packing.js').PlanePacker} PlanePacker */
/** @typedef {{groups: number, bindings: GPUBindGroup}} Part */

/** Bytes that wait for the GPU while a plane is written. */
const SLICE = 2 ** 22;
const MOST_PARTS = 32;
const MOST_WORKGROUPS = 65535;
const ESTIMATE_BYTES = 4 * WORKGROUP;
// GPUBufferUsage, which is not there without WebGPU.
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const UNIFORM = 64;
const STORAGE = 128;

/** A plane on the GPU, in as many parts as bindings need, and what goes in and out with each product. */
export class PlaneBuffers {
  /**
   * @param {GpuDevice} device @param {PlanePacker} packer @param {number} largest bytes of a binding
   * @throws {GpuRefused} too large
   */
  constructor(device, packer, largest) {
    const { limits } = device;
    this._device = device;
    const most = Math.min(largest, limits.maxStorageBufferBindingSize, limits.maxBufferSize);
    /** Groups of rows in every part but the last. */
    this._each = Math.min(MOST_WORKGROUPS, Math.floor(most / (4 * packer.levelWords)));
    const parts = Math.ceil(packer.groups / this._each);
    const fits = parts <= MOST_PARTS
      && packer.groups * ESTIMATE_BYTES <= Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
      && packer.blocks * BLOCK_BYTES <= limits.maxUniformBufferBindingSize;
    if (!fits) throw new GpuRefused('the head is too large for it');
    /** @type {Part[]} */
    this.parts = [];
    /** @type {{activation: GPUBuffer, estimates: GPUBuffer, answer: GPUBuffer} | null} */
    this._made = null;
  }

  /** Buffers of every product: the activation, the estimates, and their copy that can be read. */
  get made() {
    return /** @type {NonNullable<typeof this._made>} */ (this._made);
  }

  /**
   * Makes the buffers and fills them, a slice at a time.
   * @param {PlanePacker} packer not kept, because it holds the memory that is to be given up
   * @param {GPUComputePipeline} pipeline @param {Deadline} deadline
   * @throws {GpuLost} no memory, or the deadline
   */
  async fill(packer, pipeline, deadline) {
    const { blocks, groups } = packer;
    const bytes = groups * ESTIMATE_BYTES;
    this._made = await this._device.guarded(deadline, (device) => ({
      activation: device.createBuffer({ size: blocks * BLOCK_BYTES, usage: UNIFORM | COPY_DST }),
      estimates: device.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC }),
      answer: device.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST }),
    }));
    for (let first = 0; first < groups; first += this._each) {
      const count = Math.min(this._each, groups - first);
      const [levels, scales] = await this._write(packer, first, count, deadline);
      const bindings = await this._device.guarded(deadline, (device) =>
        device.createBindGroup({
          layout: pipeline.getBindGroupLayout(0),
          entries: this._entries(first, count, levels, scales),
        }),
      );
      this.parts.push({ groups: count, bindings });
    }
  }

  /**
   * One part of the plane.
   * @param {PlanePacker} packer @param {number} first @param {number} count groups @param {Deadline} deadline
   */
  async _write(packer, first, count, deadline) {
    const { levelWords, scaleWords } = packer;
    const [levels, scales] = await this._device.guarded(deadline, (device) => {
      const sizes = [count * levelWords, count * scaleWords];
      return sizes.map((words) => device.createBuffer({ size: 4 * words, usage: STORAGE | COPY_DST }));
    });
    const slice = Math.max(1, Math.floor(SLICE / (4 * levelWords)));
    const ofLevels = new Uint32Array(Math.min(slice, count) * levelWords);
    const ofScales = new Uint32Array(Math.min(slice, count) * scaleWords);
    for (let done = 0; done < count; done += slice) {
      const now = Math.min(slice, count - done);
      packer.pack(first + done, now, ofLevels, ofScales);
      await this._device.guarded(deadline, ({ queue }) => {
        queue.writeBuffer(levels, 4 * done * levelWords, ofLevels, 0, now * levelWords);
        queue.writeBuffer(scales, 4 * done * scaleWords, ofScales, 0, now * scaleWords);
        return queue.onSubmittedWorkDone();
      });
    }
    return [levels, scales];
  }

  /**
   * @param {number} first @param {number} count groups @param {GPUBuffer} levels @param {GPUBuffer} scales
   * @returns {GPUBindGroupEntry[]}
   */
  _entries(first, count, levels, scales) {
    const { activation, estimates } = this.made;
    const own = { buffer: estimates, offset: first * ESTIMATE_BYTES, size: count * ESTIMATE_BYTES };
    const resources = [{ buffer: activation }, { buffer: levels }, { buffer: scales }, own];
    return resources.map((resource, binding) => ({ binding, resource }));
  }
}
