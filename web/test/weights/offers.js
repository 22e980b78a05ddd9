import { sha256Now } from '../../src/weights/sha256.js';

export const CHUNK = 64 << 10;
export const HIDDEN = 64;
export const VOCAB = 1100;

/** Bytes that repeat nowhere near. @param {number} length @param {number} seed */
export function noise(length, seed = 1) {
  const bytes = new Uint8Array(length);
  let state = seed;
  // A linear congruential generator (Numerical Recipes' constants): bytes that differ are all that is wanted.
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** @param {string} text */
export const encode = (text) => new TextEncoder().encode(text);

/** @param {string} name @param {Uint8Array} bytes @param {number} [chunk] */
export function listed(name, bytes, chunk = CHUNK) {
  const chunks = [];
  for (let at = 0; at < bytes.length; at += chunk) chunks.push(sha256Now(bytes.subarray(at, at + chunk)));
  return { name, size: bytes.length, sha256: sha256Now(bytes), chunk_size: chunk, chunks };
}

/** @returns {Record<string, Uint8Array>} */
export function offeredFiles() {
  return {
    'embedding.bin': noise(VOCAB * HIDDEN * 4),
    'tokenizer.json': encode('{"tokenizer": true}'),
    'chat_template.jinja': encode('{{ messages }}'),
  };
}

/** A manifest as JSON, to be changed by tests. @param {Record<string, Uint8Array>} files @returns {any} */
export function documentOf(files) {
  return {
    format: 1,
    model: { name: 'tiny', family: 'qwen2', licence: 'apache-2.0' },
    hidden_size: HIDDEN,
    vocab_size: VOCAB,
    num_layers: 2,
    max_context: 128,
    eos_token_ids: [3],
    bos_token_id: null,
    ends: {
      embedding: { file: 'embedding.bin', dtype: 'f32', rows: VOCAB, scale: null },
      lm_head: {
        file: 'embedding.bin',
        dtype: 'f32',
        rows: VOCAB,
        bias: null,
        softcap: null,
        logit_scale: 1,
      },
    },
    tokenizer: 'tokenizer.json',
    chat_template: 'chat_template.jinja',
    special_tokens: { eos_token: '</s>' },
    generation: { temperature: 0.7, top_k: 20 },
    files: Object.entries(files).map(([name, bytes]) => listed(name, bytes)),
    backbone: { sha256: '0'.repeat(64) },
  };
}

/** @param {unknown} document */
export const manifestBytes = (document) => encode(JSON.stringify(document));

/** A tiny model: its files, its manifest, and a reader that counts what it sends. */
export class Offer {
  constructor(files = offeredFiles(), change = (/** @type {any} */ document) => document) {
    this.files = files;
    this.manifest = manifestBytes(change(documentOf(files)));
    this.digest = sha256Now(this.manifest);
    this.size = Object.values(files).reduce((sum, bytes) => sum + bytes.length, 0);
    /** @type {{name: string, first: number, last: number}[]} */
    this.requests = [];
    this.sent = 0;
    /**
     * @type {(request: {name: string, first: number, last: number}, bytes: Uint8Array) =>
     *   Uint8Array|Promise<Uint8Array>}
     */
    this.spoil = (_, bytes) => bytes;
    this.read = this.read.bind(this);
  }

  /**
   * @param {string} name @param {number} first @param {number} last @param {AbortSignal} [_]
   * @param {(received: number) => void} [onReceived]
   */
  async read(name, first, last, _, onReceived = () => {}) {
    onReceived(0);
    const request = { name, first, last };
    this.requests.push(request);
    const bytes = await this.spoil(request, this.files[name].slice(first, last + 1));
    this.sent += bytes.length;
    return bytes;
  }
}
