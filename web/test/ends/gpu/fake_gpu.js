// A GPU of JavaScript, as far as the LM head asks for one, that can fail in the ways of real ones.

const WORKGROUP = 64;

/** @param {Uint8Array} bytes */
const words = (bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
/** @param {Uint8Array} bytes */
const floats = (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
/** @param {number} bits */
const asFloat = (bits) => new Float32Array(Uint32Array.of(bits).buffer)[0];

/**
 * What shader.js says, in JavaScript.
 * @param {number} blocks @param {number} groups @param {Uint8Array[]} bindings
 */
function estimate(blocks, groups, [activation, levels, scales, estimates]) {
  const pairs = Math.ceil(blocks / 2);
  for (let row = 0; row < groups * WORKGROUP; row++) {
    const [group, thread] = [Math.floor(row / WORKGROUP), row % WORKGROUP];
    let sum = 0;
    for (let block = 0; block < blocks; block++) {
      const x = new Int8Array(activation.buffer, activation.byteOffset + 80 * block, 64);
      const step = floats(activation)[20 * block + 16];
      let product = -new Int32Array(activation.buffer, activation.byteOffset)[20 * block + 17];
      for (let byte = 0; byte < 32; byte++) {
        const half = byte >> 4;
        const at = 16 * (((group * blocks + block) * 2 + half) * WORKGROUP + thread) + (byte & 15);
        const column = 8 * (byte >> 2) + (byte & 3);
        product += (levels[at] & 15) * x[column] + (levels[at] >> 4) * x[column + 4];
      }
      const pair = words(scales)[(group * pairs + (block >> 1)) * WORKGROUP + thread];
      const scale = asFloat(block & 1 ? pair & 0xffff0000 : pair << 16);
      sum = Math.fround(sum + Math.fround(product * Math.fround(scale * step)));
    }
    floats(estimates)[row] = sum;
  }
}

class FakeBuffer {
  /** @param {FakeDevice} device @param {number} size */
  constructor(device, size) {
    this.size = size;
    this.bytes = new Uint8Array(size);
    this._device = device;
  }

  /** @returns {Promise<void>} */
  mapAsync() {
    const { gpu } = this._device;
    if (gpu.fault === 'hangs') return new Promise(() => {});
    if (gpu.fault === 'rejects') return Promise.reject(new Error('AbortError'));
    return Promise.race([new Promise((resolve) => setImmediate(resolve)), this._device.broken]);
  }

  getMappedRange() {
    return this.bytes.slice().buffer;
  }

  unmap() {}
}

class FakeDevice {
  /** @param {FakeGpu} gpu */
  constructor(gpu) {
    this.gpu = gpu;
    this.limits = gpu.limits;
    this.destroyed = false;
    /** @type {(info: object) => void} */
    this._lose = () => {};
    this.lost = new Promise((resolve) => (this._lose = resolve));
    this.broken = this.lost.then(() => Promise.reject(new Error('AbortError')));
    this.broken.catch(() => {});
    this.queue = {
      writeBuffer: this._write.bind(this),
      submit: (/** @type {(() => void)[]} */ commands) => commands.forEach((command) => command()),
      onSubmittedWorkDone: async () => {},
    };
  }

  destroy() {
    this.destroyed = true;
    this._lose({ reason: 'destroyed' });
  }

  pushErrorScope() {}

  async popErrorScope() {
    return this.gpu.fault === 'errs' ? new Error('a buffer is not valid') : null;
  }

  /** @param {{size: number}} shape */
  createBuffer({ size }) {
    return new FakeBuffer(this, size);
  }

  /** @param {{code: string}} module */
  createShaderModule({ code }) {
    return { blocks: Number(/const BLOCKS = (\d+)u/.exec(code)?.[1]) };
  }

  /** @param {{compute: {module: {blocks: number}}}} descriptor */
  async createComputePipelineAsync({ compute }) {
    return { blocks: compute.module.blocks, getBindGroupLayout: () => ({}) };
  }

  /** @param {{entries: {resource: {buffer: FakeBuffer, offset?: number, size?: number}}[]}} descriptor */
  createBindGroup({ entries }) {
    return entries.map(({ resource: { buffer, offset = 0, size = buffer.size } }) =>
      buffer.bytes.subarray(offset, offset + size),
    );
  }

  createCommandEncoder() {
    /** @type {(() => void)[]} */
    const commands = [];
    /** @type {any} */
    let pipeline;
    /** @type {Uint8Array[]} */
    let bindings;
    const dispatch = (/** @type {number} */ groups) => {
      const bound = bindings;
      commands.push(() => this._run(() => estimate(pipeline.blocks, groups, bound)));
    };
    return {
      beginComputePass: () => ({
        setPipeline: (/** @type {any} */ value) => (pipeline = value),
        setBindGroup: (/** @type {number} */ _, /** @type {Uint8Array[]} */ value) => (bindings = value),
        dispatchWorkgroups: dispatch,
        end: () => {},
      }),
      /** @param {FakeBuffer} from @param {number} _ @param {FakeBuffer} to */
      copyBufferToBuffer: (from, _, to) => commands.push(() => to.bytes.set(from.bytes)),
      finish: () => () => commands.forEach((command) => command()),
    };
  }

  /** @param {() => void} work */
  _run(work) {
    this.gpu.dispatches++;
    this.gpu.onDispatch();
    if (this.gpu.fault !== 'wrong') work();
  }

  /**
   * @param {FakeBuffer} buffer @param {number} offset @param {Uint32Array | ArrayBuffer} data
   * @param {number} [from] @param {number} [count]
   */
  _write(buffer, offset, data, from = 0, count = undefined) {
    const part = ArrayBuffer.isView(data) ? data.subarray(from, from + Number(count)) : new Uint8Array(data);
    buffer.bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), offset);
  }
}

/** `navigator.gpu` of a browser. */
export class FakeGpu {
  /** @param {{info?: object, limits?: object}} [adapter] */
  constructor({ info = { vendor: 'fake', isFallbackAdapter: false }, limits = {} } = {}) {
    this.info = info;
    this.limits = {
      maxStorageBufferBindingSize: 2 ** 27,
      maxBufferSize: 2 ** 28,
      maxUniformBufferBindingSize: 2 ** 16,
      ...limits,
    };
    this.wgslLanguageFeatures = new Set();
    /** @type {'none' | 'hangs' | 'rejects' | 'errs' | 'wrong'} */
    this.fault = 'none';
    /** @type {FakeDevice[]} */
    this.devices = [];
    this.adapters = 0;
    this.dispatches = 0;
    this.onDispatch = () => {};
  }

  /** @returns {Promise<any>} */
  async requestAdapter() {
    this.adapters++;
    const requestDevice = async () => {
      this.devices.push(new FakeDevice(this));
      return this.devices.at(-1);
    };
    return { info: this.info, requestDevice };
  }

  /** As what the browser's own is taken for. @returns {GPU} */
  get asGpu() {
    return /** @type {GPU} */ (/** @type {unknown} */ (this));
  }
}

/** Timers that fire when they are told. */
export class FakeTimers {
  constructor() {
    this.now = 0;
    /** @type {Map<number, {at: number, work: () => void}>} */
    this.waiting = new Map();
    this._next = 1;
    this.setTimeout = (/** @type {() => void} */ work, /** @type {number} */ milliseconds) => {
      this.waiting.set(this._next, { at: this.now + milliseconds, work });
      return this._next++;
    };
    this.clearTimeout = (/** @type {number} */ timer) => void this.waiting.delete(timer);
  }

  /** @param {number} milliseconds */
  pass(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      const due = [...this.waiting].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      this.waiting.delete(due[0]);
      this.now = due[1].at;
      due[1].work();
    }
    this.now = end;
  }
}
