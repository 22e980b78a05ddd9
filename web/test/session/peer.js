// A split server without sockets or a model, as strict as a real one about numbers and digests. It
// answers with a row that depends on every cached byte, so that the answer tells what it holds.
import { blake2b } from '@noble/hashes/blake2.js';
import { PrefixChain } from '../../src/protocol/digest.js';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { decodeClientMessage } from '../../src/protocol/parsing.js';
import { returned } from '../../src/protocol/steps/returned.js';
import { Tensor, itemSize } from '../../src/protocol/tensor.js';

export const WIDTH = 4;
export const MAX_ROWS = 3;
export const MAX_CONTEXT = 40;
export const MANIFEST = 'm';
export const LAYERS = 2;

/** Every token has a row of its own. @param {number[]} tokens */
export function rowsOf(tokens) {
  return Float32Array.from(tokens.flatMap((token) => Array(WIDTH).fill(token)));
}

/** What the model answers when it holds `rows`. @param {string[]} rows hex */
function answerOf(rows) {
  return Float32Array.from(blake2b(Buffer.from(rows.join('|')), { dkLen: WIDTH }));
}

/** What the model answers when it has cached exactly `tokens`. @param {number[]} tokens */
export function truth(tokens) {
  return answerOf(stored(Tensor.fromF32(rowsOf(tokens), WIDTH, 'f32')));
}

/** What it answers after each of the last `count` of `tokens`. @param {number[]} tokens @param {number} count */
export function truths(tokens, count) {
  return statesAfter(stored(Tensor.fromF32(rowsOf(tokens), WIDTH, 'f32')), count);
}

/** @param {string[]} rows @param {number} count */
function statesAfter(rows, count) {
  const ends = Array.from({ length: count }, (_, i) => rows.length - count + 1 + i);
  return Float32Array.from(ends.flatMap((end) => [...answerOf(rows.slice(0, end))]));
}

/** What the last of `rows` attends to, [LAYERS, rows]. @param {string[]} rows hex */
function attentionOf(rows) {
  const bytes = Array.from({ length: LAYERS }, (_, layer) =>
    rows.map((_, i) => blake2b(Buffer.from([layer, i, ...rows].join('|')), { dkLen: 1 })[0]));
  return Float32Array.from(bytes.flatMap((layer) => layer.map((byte) => byte / 256)));
}

/** What it attends to when it has cached exactly `tokens`. @param {number[]} tokens */
export function attentionTruth(tokens) {
  return attentionOf(stored(Tensor.fromF32(rowsOf(tokens), WIDTH, 'f32')));
}

/** The weights of what was told, if anything was. @param {import('../../src/session/sequence.js').Extended} extended */
export function weightsOf({ attention }) {
  if (attention instanceof Error) throw attention;
  return attention && attention.weights;
}

/** @param {Tensor} tensor @returns {string[]} */
function stored(tensor) {
  const size = tensor.width * itemSize(tensor.dtype);
  const row = (/** @type {number} */ i) => Buffer.from(tensor.data.subarray(i * size, (i + 1) * size));
  return Array.from({ length: tensor.rows }, (_, i) => row(i).toString('hex'));
}

class Held {
  /** @param {string} manifest */
  constructor(manifest) {
    this.chain = new PrefixChain(manifest);
    /** @type {string[]} */
    this.rows = [];
    this.last = 0;
    this.mark = '';
    /** @type {Uint8Array} */
    this.reply = new Uint8Array(0);
  }
}

export class Peer {
  constructor() {
    this.manifest = MANIFEST;
    /** @type {import('../../src/protocol/messages.js').DType} */
    this.dtype = 'f32';
    this.maxRows = MAX_ROWS;
    this.maxContext = MAX_CONTEXT;
    /** Whether it returns any number of a step's last rows, and with how many a step is interactive. */
    this.returnsRows = true;
    this.interactiveRows = 16;
    /** Whether it can be asked for what it holds. */
    this.restores = false;
    /** What was cached, by its digest in hex. @type {Map<string, {digests: Uint8Array[], rows: string[]}>} */
    this.kept = new Map();
    /** Layers whose attention it tells; 0: it does not. */
    this.layers = LAYERS;
    /** @type {Map<string, Held>} */
    this.sessions = new Map();
    this.opened = 0;
    /** @type {string | null} */
    this.replica = null;
    /** How often each step was appended. @type {Map<string, number>} */
    this.runs = new Map();
    /** @type {any[]} */
    this.messages = [];
    /** Failures to answer with before anything else. @type {any[]} */
    this.failures = [];
  }

  /** @param {Uint8Array} frame @returns {Uint8Array} */
  answer(frame) {
    const message = decodeClientMessage(frame, 1 << 20);
    this.messages.push(message);
    const failure = this.failures.shift();
    if (failure) return fail(failure.code, message, failure);
    if (message.type === 'open') return this._open(message);
    if (message.type === 'step') return this._step(message, frame);
    if (message.type === 'restore') return this._restore(message);
    if (message.type === 'ping') return encodeServerMessage({ type: 'pong' });
    if (!message.keep && !this._cut(message.session)) return fail('unknown_session', {});
    this.sessions.delete(message.session);
    return encodeServerMessage({ type: 'closed', session: message.session });
  }

  /** @param {any} message */
  _open(message) {
    if (message.manifest !== this.manifest) return fail('model_changed', { type: 'open' });
    this.opened += 1;
    const session = `s${this.opened}`;
    const held = new Held(this.manifest);
    this.sessions.set(session, held);
    const cached = this.restores ? this._found(held, message.probe, 0) : 0;
    return encodeServerMessage({
      type: 'opened', session, manifest: this.manifest, dtype: message.dtype ?? this.dtype,
      maxRows: this.maxRows, maxContext: this.maxContext, version: 1, capabilities: this._announced(),
      layers: this.layers, heads: this.layers, cached, prefix: held.chain.at(cached),
      interactiveRows: this.interactiveRows, tiers: {}, replica: this.replica, streamed: 0,
    });
  }

  /** Keeps nothing of a session any more. @param {string} session @returns {boolean} whether there was one */
  _cut(session) {
    const held = this.sessions.get(session);
    const names = Array.from({ length: held?.chain.length ?? 0 }, (_, i) => held?.chain.at(i + 1) ?? new Uint8Array(0));
    for (const name of names) this.kept.delete(Buffer.from(name).toString('hex'));
    return held !== undefined;
  }

  _announced() {
    return ['later', ...(this.returnsRows ? ['rows'] : []), ...(this.layers ? ['attention'] : []), ...(this.restores ? ['restore'] : [])];
  }

  /** @param {any} message */
  _restore({ session, start, prefix, probe }) {
    const held = this.sessions.get(session);
    if (!held) return fail('unknown_session', {});
    if (start > held.chain.length) return fail('start_beyond_cache', {});
    if (!Buffer.from(held.chain.at(start)).equals(prefix)) return fail('prefix_mismatch', {});
    const cached = this._found(held, probe, start);
    const { known } = probe;
    const there = held.chain.at(cached);
    return encodeServerMessage({ type: 'restored', session, start, known, cached, prefix: there, tiers: {} });
  }

  /** Takes in the longest of what was asked for. @param {Held} held @param {any} probe @param {number} start */
  _found(held, probe, start) {
    const digests = Buffer.from(probe?.digests ?? []).toString('hex').match(/.{32}/g) ?? [];
    const [longest] = digests.reverse().flatMap((digest) => this.kept.get(digest) ?? []);
    if (!longest || longest.rows.length <= start) return start;
    held.chain.replace(0, longest.digests);
    held.rows = longest.rows;
    return held.rows.length;
  }

  /** @param {any} step @param {Uint8Array} frame */
  _step(step, frame) {
    const held = this.sessions.get(step.session);
    const mark = Buffer.from(frame).toString('hex');
    if (!this.returnsRows && typeof step.rows === 'number') return fail('malformed_message', step);
    if (!held) return fail('unknown_session', step);
    if (step.step === held.last && mark === held.mark) return held.reply;
    if (step.step !== held.last + 1) return fail('step_conflict', step);
    if (step.start > held.chain.length) return fail('start_beyond_cache', step);
    const known = Buffer.from(held.chain.at(step.start));
    if (!known.equals(step.prefix)) return fail('prefix_mismatch', step);
    return this._run(held, step, mark);
  }

  /** @param {Held} held @param {any} step @param {string} mark */
  _run(held, step, mark) {
    const key = `${step.session}/${step.step}`;
    this.runs.set(key, (this.runs.get(key) ?? 0) + 1);
    const digests = held.chain.following(step.start, step.embeddings);
    held.chain.replace(step.start, digests);
    held.rows = [...held.rows.slice(0, step.start), ...stored(step.embeddings)];
    const states = statesAfter(held.rows, returned(step.rows, step.embeddings.rows));
    const hidden = Tensor.fromF32(states, WIDTH, this.dtype);
    const weights = Tensor.fromF32(attentionOf(held.rows), held.rows.length, 'f16');
    const attention = step.attention && { layers: LAYERS, heads: 1, values: weights, positions: null };
    for (const end of held.rows.keys()) this._keep(held, end + 1);
    held.last = step.step;
    held.mark = mark;
    held.reply = encodeServerMessage({
      type: 'result', session: step.session, step: step.step, cached: held.rows.length, hidden,
      computeUs: 2000, queueUs: 500, prefix: digests[digests.length - 1], attention,
      reused: 0, tiers: {},
    });
    return held.reply;
  }

  /** @param {Held} held @param {number} end */
  _keep({ chain, rows }, end) {
    const digests = Array.from({ length: end }, (_, i) => chain.at(i + 1));
    this.kept.set(Buffer.from(chain.at(end)).toString('hex'), { digests, rows: rows.slice(0, end) });
  }
}

/** @param {string} code @param {any} message @param {any} [options] */
function fail(code, message, { retryable = false, retryAfter = null } = {}) {
  const { session = null, step = null } = message.type === 'step' ? message : {};
  return encodeServerMessage({ type: 'error', code, message: 'Words.', retryable, retryAfter, session, step });
}
