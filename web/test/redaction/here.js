// The worker of redaction without a thread: what is posted is cloned, and comes later.
import { RedactionServer } from '../../src/redaction/apart/server.js';

export class WorkerHere {
  constructor() {
    this.ended = false;
    this.onmessage = (/** @type {any} */ _event) => {};
    this.onerror = (/** @type {any} */ _event) => {};
    this.onmessageerror = (/** @type {any} */ _event) => {};
    this._server = new RedactionServer((answer) => this._later(answer, (data) => this.onmessage?.({ data })));
  }

  /** @param {any} message */
  postMessage(message) {
    this._later(message, (data) => void this._server.receive(data));
  }

  terminate() {
    this.ended = true;
  }

  /** @param {any} message @param {(data: any) => void} then */
  _later(message, then) {
    const data = structuredClone(message);
    queueMicrotask(() => this.ended || then(data));
  }
}
