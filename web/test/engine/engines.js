// Engines whose stores, models and channels do what a test says.
import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { Engine } from '../../src/engine/engine.js';
import { parseManifest } from '../../src/weights/manifest.js';
import { Offer } from '../weights/offers.js';

export const WHERE = { url: 'http://server', token: null };
export const offer = new Offer();
export const manifest = parseManifest(offer.manifest);
const { fetch } = globalThis;

/** Has the tests of a file be answered with the manifest of `offer`. */
export function offering() {
  beforeEach(() => {
    globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) =>
      url.endsWith('/manifest.json') ? new Response(offer.manifest) : new Response('', { status: 404 }));
  });
  afterEach(() => {
    globalThis.fetch = fetch;
  });
}

/** A store that has the model or not. @param {{stored: boolean}} options */
export const storeOf = ({ stored }) => ({
  kind: 'memory',
  list: async () => [{ digest: manifest.digest, name: manifest.name, complete: stored, bytes: stored ? 7 : 0 }],
  find: async () => (stored ? { manifest } : null),
  free: async () => 1000,
  remove: async () => {},
});

/** A model whose tokenizer does what the test says. @param {() => number[]} encode */
export function modelOf(encode) {
  const model = { manifest, tokenizer: { encode }, template: null, closed: 0, ends: { kernel: 'simd', workers: 2 } };
  return Object.assign(model, { close: async () => void (model.closed += 1) });
}

/** @param {{stored?: boolean, models?: any[]}} options */
export function engineOf({ stored = true, models = [] } = {}) {
  const opening = [...models];
  /** Channels as they were made. @type {any[]} */
  const channels = [];
  const makeChannel = (/** @type {any} */ where) => {
    const channel = {
      where, warmed: 0, closed: false, revoked: false,
      accept() {}, tell() {}, warm: async () => void (channel.warmed += 1), close: () => void (channel.closed = true),
      rerouted: /** @type {string[]} */ ([]), reroute: (/** @type {string} */ id) => void channel.rerouted.push(id),
    };
    channels.push(channel);
    return channel;
  };
  const options = {
    cores: 2, openStore: async () => storeOf({ stored }), openModel: async () => opening.shift(), makeChannel,
  };
  return { opening, channels, engine: new Engine(() => {}, /** @type {any} */ (options)) };
}

export const request = () => ({
  chat: 'c', messages: [{ role: 'user', content: 'hi' }], params: {}, maxTokens: 1, stop: [], adapter: null, mode: 'plain',
});

/** @param {Promise<any>} promise @param {string} code */
export const refused = (promise, code) =>
  assert.rejects(promise, (error) => error instanceof AppError && error.code === code);

/** What a test lets happen when it wants. */
export function gate() {
  /** @type {() => void} */
  let open = () => {};
  const passed = new Promise((resolve) => (open = () => resolve(undefined)));
  return { open, passed };
}

/** Another model than that of `offer`. */
export function otherManifest() {
  const changed = JSON.parse(new TextDecoder().decode(offer.manifest));
  changed.model.name = 'another';
  return new TextEncoder().encode(JSON.stringify(changed));
}

/** The server at `url` answers with `manifest` once `until` has passed. */
export function serve(/** @type {string} */ url, /** @type {Uint8Array} */ bytes, until = Promise.resolve()) {
  const before = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address) => {
    if (!address.startsWith(url) || !address.endsWith('/manifest.json')) return before(address);
    await until;
    return new Response(/** @type {BodyInit} */ (bytes));
  });
}
