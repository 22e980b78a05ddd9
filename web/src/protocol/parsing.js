// Reading messages: every field is checked by type and range before a message exists.
import { requestField, rowsField } from './attention.js';
import { MalformedMessage, UnknownMessage, UnsupportedVersion } from './errors.js';
import { Fields } from './fields.js';
import { decodeFrame } from './frame.js';
import {
  LARGEST_HEADS,
  LARGEST_LAYERS,
  LARGEST_MAX_CONTEXT,
  LARGEST_MAX_ROWS,
  MAX_MESSAGE_TEXT,
} from './limits.js';
import { VERSION } from './messages.js';
import { probeField } from './probe.js';
import { INTERACTIVE_ROWS, rowsAsked } from './steps/returned.js';
import { wireDtype } from './tensor.js';
import { cacheAsked, tiersField } from './steps/tiers.js';

/** @typedef {import('./frame.js').Frame} Frame */
/** @typedef {import('./messages.js').ClientMessage} ClientMessage */
/** @typedef {import('./messages.js').ServerMessage} ServerMessage */

export const DIGEST_BYTES = 16;

/** @type {Record<string, (fields: Fields, frame: Frame) => ServerMessage>} */
const SERVER_PARSERS = {
  opened: parseOpened,
  restored: parseRestored,
  result: parseResult,
  closed: (fields) => ({ type: 'closed', session: fields.text('session') }),
  pong: () => ({ type: 'pong' }),
  error: parseFailure,
};
/** @type {Record<string, (fields: Fields, frame: Frame) => ClientMessage>} */
const CLIENT_PARSERS = {
  open: parseOpen,
  restore: parseRestore,
  step: parseStep,
  close: (fields) => ({ type: 'close', session: fields.text('session'), keep: fields.flag('keep', true) }),
  ping: () => ({ type: 'ping' }),
};

/**
 * Parses what a server sent.
 * @param {Uint8Array} bytes
 * @param {number} maxBytes
 * @returns {ServerMessage}
 * @throws {import('./errors.js').WireError}
 */
export function decodeServerMessage(bytes, maxBytes) {
  return parsed(decodeFrame(bytes, maxBytes), SERVER_PARSERS);
}

/**
 * Parses what a device sent.
 * @param {Uint8Array} bytes
 * @param {number} maxBytes
 * @returns {ClientMessage}
 * @throws {import('./errors.js').WireError}
 */
export function decodeClientMessage(bytes, maxBytes) {
  return parsed(decodeFrame(bytes, maxBytes), CLIENT_PARSERS);
}

/**
 * @template T
 * @param {Frame} frame
 * @param {Record<string, (fields: Fields, frame: Frame) => T>} parsers
 * @returns {T}
 */
function parsed(frame, parsers) {
  const kind = frame.header.get('type');
  if (typeof kind !== 'string') throw new MalformedMessage("'type' must be text");
  if (!Object.hasOwn(parsers, kind)) throw new UnknownMessage(kind);
  return parsers[kind](new Fields(frame.header), frame);
}

/** Checked before the fields that another version may have changed are read. @param {Fields} fields */
function versionOf(fields) {
  const version = fields.count('version');
  if (version !== VERSION) throw new UnsupportedVersion(version, VERSION);
  return version;
}

/** @param {Frame} frame @param {string} name */
function tensorOf(frame, name) {
  const tensor = frame.tensors.get(name);
  if (!tensor) throw new MalformedMessage(`the tensor '${name}' is missing`);
  return tensor;
}

/** @param {Fields} fields @returns {import('./messages.js').Open} */
function parseOpen(fields) {
  const version = versionOf(fields);
  const manifest = fields.optionalText('manifest');
  const dtype = fields.optionalText('dtype');
  return {
    type: 'open',
    manifest,
    dtype: dtype === null ? null : wireDtype(dtype),
    version,
    capabilities: fields.texts('capabilities'),
    probe: probeField(fields),
    cacheSalt: fields.optionalText('cache_salt'),
    cache: cacheAsked(fields.optionalText('cache')),
    cacheGroup: fields.optionalText('cache_group'),
    shareUntil: fields.optionalCount('share_until'),
    wait: fields.flag('wait'),
  };
}

/** @param {Fields} fields @returns {import('./messages.js').Restore} */
function parseRestore(fields) {
  const probe = probeField(fields);
  if (probe === null) throw new MalformedMessage("'known' must be at least 1");
  const [session, start] = [fields.text('session'), fields.count('start')];
  return { type: 'restore', session, start, prefix: fields.digest('prefix', DIGEST_BYTES), probe };
}

/** @param {Fields} fields @returns {import('./messages.js').Restored} */
function parseRestored(fields) {
  return {
    type: 'restored',
    session: fields.text('session'),
    start: fields.count('start'),
    known: fields.count('known'),
    cached: fields.count('cached'),
    prefix: fields.digest('prefix', DIGEST_BYTES),
    tiers: tiersField(fields.raw('tiers')),
  };
}

/** @param {Fields} fields @returns {import('./messages.js').Opened} */
function parseOpened(fields) {
  const version = versionOf(fields);
  return {
    type: 'opened',
    session: fields.text('session'),
    manifest: fields.text('manifest'),
    dtype: wireDtype(fields.text('dtype')),
    maxRows: fields.count('max_rows', LARGEST_MAX_ROWS),
    maxContext: fields.count('max_context', LARGEST_MAX_CONTEXT),
    version,
    capabilities: fields.texts('capabilities'),
    layers: fields.optionalCount('layers', LARGEST_LAYERS),
    heads: fields.optionalCount('heads', LARGEST_HEADS),
    cached: fields.optionalCount('cached'),
    prefix: fields.optionalDigest('prefix', DIGEST_BYTES),
    interactiveRows: interactiveOf(fields),
    tiers: tiersField(fields.raw('tiers')),
    replica: fields.optionalText('replica'),
    streamed: fields.optionalCount('streamed', LARGEST_LAYERS),
  };
}

/** @param {Fields} fields */
function interactiveOf(fields) {
  if (!fields.has('interactive_rows')) return INTERACTIVE_ROWS;
  const rows = fields.count('interactive_rows', LARGEST_MAX_ROWS);
  if (rows < 1) throw new MalformedMessage("'interactive_rows' must be at least 1");
  return rows;
}

/** @param {Fields} fields @param {Frame} frame @returns {import('./messages.js').Step} */
function parseStep(fields, frame) {
  const embeddings = tensorOf(frame, 'embeddings');
  return {
    type: 'step',
    session: fields.text('session'),
    step: fields.count('step'),
    start: fields.count('start'),
    prefix: fields.digest('prefix', DIGEST_BYTES),
    embeddings,
    rows: rowsAsked(fields.raw('rows'), embeddings.rows),
    adapter: fields.optionalText('adapter'),
    attention: requestField(fields.raw('attention')),
  };
}

/** @param {Fields} fields @param {Frame} frame @returns {import('./messages.js').Result} */
function parseResult(fields, frame) {
  return {
    type: 'result',
    session: fields.text('session'),
    step: fields.count('step'),
    cached: fields.count('cached'),
    hidden: tensorOf(frame, 'hidden'),
    computeUs: fields.optionalCount('compute_us'),
    queueUs: fields.optionalCount('queue_us'),
    prefix: fields.optionalDigest('prefix', DIGEST_BYTES),
    attention: rowsField(fields.raw('attention'), frame.tensors),
    reused: fields.optionalCount('reused'),
    tiers: tiersField(fields.raw('tiers')),
  };
}

/** @param {Fields} fields @returns {import('./messages.js').Failure} */
function parseFailure(fields) {
  return {
    type: 'error',
    code: fields.code('code'),
    message: fields.printable('message', MAX_MESSAGE_TEXT),
    retryable: fields.flag('retryable'),
    retryAfter: fields.optionalSeconds('retry_after'),
    session: fields.optionalText('session'),
    step: fields.has('step') ? fields.count('step') : null,
  };
}
