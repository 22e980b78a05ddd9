import { writeActivation } from '../plane/activation.js';
import { BLOCK } from '../plane/layout.js';
import { PlaneBuffers } from './buffers.js';
import { Deadline } from './deadline.js';
import { PlanePacker, packActivation } from './packing.js';
import { shaderOf } from './shader.js';

/** @typedef {import('./deadline.js').Timers} Timers */
/** @typedef {import('./device.js').GpuDevice} GpuDevice */
/** @typedef {import('./packing.js').Place} Place */

// GPUMapMode.READ, which is not there without WebGPU.
const MAP_READ = 1;
/** Seconds that a product may take before the device counts as lost. */
const PATIENCE = 4;
/** More than any integer sum of a block: 64 products of at most 8 * 127. */
const LARGEST_SUM = 64 * 8 * 127;
// Far from where f32 ends: beyond it shaders may do as they like.
const LARGEST = 2 ** 120;

/** The 4-bit plane of a shard in buffers of a GPU: an estimate of every row . hidden. */
export class PlaneOnGpu {
  /**
   * @param {GpuDevice} device @param {PlaneBuffers} buffers @param {PlanePacker} packer
   * @param {GPUComputePipeline} pipeline @param {Timers} [timers]
   */
  constructor(device, buffers, packer, pipeline, timers) {
    const { columns, peaks, blocks } = packer;
    this._device = device;
    this._buffers = buffers;
    this._pipeline = pipeline;
    this._timers = timers;
    this._columns = columns;
    this._peaks = new Float32Array(Uint32Array.from(peaks, (half) => half << 16).buffer);
    this._views = {
      bytes: new Int8Array(blocks * BLOCK),
      words: new Int16Array(blocks * BLOCK),
      factors: new DataView(new ArrayBuffer(8 * blocks)),
    };
    /** Where the estimates go. */
    this.estimates = new Float32Array();
    this.kernel = /** @type {const} */ ('webgpu');
  }

  /**
   * The plane in the memory of `place`, copied to the GPU.
   * @param {GpuDevice} device @param {Place} place
   * @param {{packed: boolean, largest?: number, deadline: Deadline, timers?: Timers}} options `packed`: the
   *   shader may use `dot4I8Packed`; `largest`: bytes of a binding
   * @returns {Promise<PlaneOnGpu>}
   * @throws {GpuRefused} too large for its limits @throws {GpuLost}
   */
  static async copy(device, place, { packed, largest = Infinity, deadline, timers }) {
    const packer = new PlanePacker(place);
    const buffers = new PlaneBuffers(device, packer, largest);
    const pipeline = await device.guarded(deadline, (raw) => {
      const module = raw.createShaderModule({ code: shaderOf(packer.blocks, packed) });
      return raw.createComputePipelineAsync({ layout: 'auto', compute: { module } });
    });
    await buffers.fill(packer, pipeline, deadline);
    const plane = new PlaneOnGpu(device, buffers, packer, pipeline, timers);
    plane.into(place);
    return plane;
  }

  /** Estimates go into this place's memory from now on. @param {Place} place */
  into({ layout, memory }) {
    this.estimates = new Float32Array(memory.buffer, layout.estimates, layout.rows);
  }

  /**
   * Estimates of every row . hidden of the shard, into `estimates`; NaN where one could overflow.
   * @param {Float32Array} hidden @param {Deadline} [deadline] without one: 4 seconds
   * @param {number} [times] how often it computes them, to no other end than to take longer
   * @returns {Promise<void>}
   * @throws {GpuLost}
   */
  async estimate(hidden, deadline, times = 1) {
    writeActivation(hidden, this._columns, this._views);
    if (!this._staysFinite()) {
      this.estimates.fill(NaN);
      return;
    }
    const until = deadline ?? new Deadline(PATIENCE, this._timers);
    try {
      await this._device.guarded(until, (raw) => this._compute(raw, times));
    } finally {
      if (!deadline) until.end();
    }
  }

  /** Frees the GPU. */
  close() {
    this._device.destroy();
  }

  _staysFinite() {
    const { factors } = this._views;
    const step = (/** @type {number} */ block) => factors.getFloat32(8 * block, true);
    const sum = this._peaks.reduce((total, peak, block) => total + peak * step(block), 0);
    return sum * LARGEST_SUM < LARGEST;
  }

  /**
   * Asks for a product and reads it once it can be read.
   * @param {GPUDevice} raw @param {number} times @returns {Promise<void>}
   */
  _compute(raw, times) {
    const { activation, estimates, answer } = this._buffers.made;
    raw.queue.writeBuffer(activation, 0, packActivation(this._views, this._peaks.length));
    const encoder = raw.createCommandEncoder();
    for (let i = 0; i < times; i++) this._encodePass(encoder);
    encoder.copyBufferToBuffer(estimates, 0, answer, 0, answer.size);
    raw.queue.submit([encoder.finish()]);
    return answer.mapAsync(MAP_READ).then(() => {
      this.estimates.set(new Float32Array(answer.getMappedRange(), 0, this.estimates.length));
      answer.unmap();
    });
  }

  /** @param {GPUCommandEncoder} encoder */
  _encodePass(encoder) {
    const pass = encoder.beginComputePass();
    pass.setPipeline(this._pipeline);
    for (const { groups, bindings } of this._buffers.parts) {
      pass.setBindGroup(0, bindings);
      pass.dispatchWorkgroups(groups);
    }
    pass.end();
  }
}
