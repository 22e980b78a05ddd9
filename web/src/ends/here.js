import { openShard as openKept } from '../weights/shard.js';
import { readBesideBundle } from './kernels.js';
import { ShardServer } from './shard_server.js';

/** @typedef {Pick<import('./open_share.js').Means, 'openShard' | 'readModule'>} Means */

/**
 * What a worker of the ends answers, in this thread: for a table that takes less time than the way to a worker and
 * back, which every token goes twice. The messages are as a worker's, but nothing is copied.
 */
export class Here {
  /** @param {Means} [means] */
  constructor({ openShard, readModule } = { openShard: openKept, readModule: readBesideBundle }) {
    this.onmessage = (/** @type {{data: any}} */ _event) => {};
    /** Nothing is lost on this way, and a thread that dies takes whoever asks along. */
    this.onmessageerror = this.onerror = () => {};
    this._server = new ShardServer({ openShard, readModule, post: (data) => this.onmessage({ data }) });
  }

  /** @param {any} request */
  postMessage(request) {
    void this._server.receive(request);
  }

  /** Its files are let go; a worker's are with its thread. */
  terminate() {
    this.onmessage = () => {};
    void this._server.receive({ id: 0, type: 'close' });
  }
}
