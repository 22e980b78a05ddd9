/** @import { FileEntry, FloatName, Manifest } from '../../types/gatelink.js' */
import { ManifestInvalid } from './errors.js';
import { Fields, isSha256 } from './fields.js';
import { sha256Now } from './sha256.js';

export const FORMAT = 1;
export const MANIFEST_NAME = 'manifest.json';
export const MAX_MANIFEST_BYTES = 4 << 20;
export const ITEM_BYTES = /** @type {Record<FloatName, number>} */ ({ f16: 2, bf16: 2, f32: 4 });
const FLOATS = /** @type {const} */ (['f16', 'bf16', 'f32']);
const MAX_HIDDEN = 1 << 16;
const MAX_VOCAB = 1 << 22;
const MAX_CONTEXT = 1 << 24;
const MAX_FILES = 64;
const MAX_FILE_BYTES = 2 ** 42;
const MAX_TOKENIZER_BYTES = 128 << 20;
const MAX_TEMPLATE_BYTES = 1 << 20;
const CHUNK_BYTES = /** @type {const} */ ([64 << 10, 64 << 20]);
const MAX_CHUNKS = 1 << 20;
const GENERATION = ['temperature', 'top_k', 'top_p', 'min_p', 'repetition_penalty'];

/**
 * Read and check a manifest (docs/protocol.md, Weights); unknown keys are ignored. Its digest is the SHA-256
 * of `bytes`.
 * @param {Uint8Array} bytes as served
 * @returns {Manifest}
 * @throws {ManifestInvalid}
 */
export function parseManifest(bytes) {
  if (bytes.length > MAX_MANIFEST_BYTES)
    throw new ManifestInvalid(`it is longer than ${MAX_MANIFEST_BYTES} bytes`);
  const fields = new Fields(readJson(bytes));
  if (fields.count('format', 0, 2 ** 30) !== FORMAT) {
    throw new ManifestInvalid(`its format is not ${FORMAT}; reload the page or update the server`);
  }
  return checked(read(fields, sha256Now(bytes)));
}

/** First byte and length of a chunk. @param {FileEntry} entry @param {number} chunk */
export function chunkSpan(entry, chunk) {
  const start = chunk * entry.chunkSize;
  return { start, length: Math.min(entry.chunkSize, entry.size - start) };
}

/** @param {Manifest} manifest @param {string} name @returns {FileEntry} */
export function fileEntry(manifest, name) {
  const entry = manifest.files.find((file) => file.name === name);
  if (!entry) throw new RangeError(`the manifest has no file ${name}`);
  return entry;
}

/**
 * Bytes of a row of a tensor file, null for every other file.
 * @param {Manifest} manifest
 * @param {string} name
 */
export function rowBytes(manifest, name) {
  const { embedding, head, hiddenSize } = manifest;
  if (name === embedding.file) return hiddenSize * ITEM_BYTES[embedding.dtype];
  return name === head.file ? hiddenSize * ITEM_BYTES[head.dtype] : null;
}

/** @param {Uint8Array} bytes @returns {unknown} */
function readJson(bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ManifestInvalid('it is not JSON');
  }
}

/** @param {Fields} fields @param {string} digest @returns {Manifest} */
function read(fields, digest) {
  const model = fields.inner('model');
  const ends = fields.inner('ends');
  const vocabSize = fields.count('vocab_size', 1, MAX_VOCAB);
  const manifest = {
    digest,
    name: model.text('name'),
    family: model.text('family'),
    licence: model.has('licence') ? model.text('licence', 1 << 16) : null,
    hiddenSize: fields.count('hidden_size', 1, MAX_HIDDEN),
    vocabSize,
    numLayers: fields.count('num_layers', 1, 1 << 16),
    maxContext: fields.count('max_context', 1, MAX_CONTEXT),
    eosTokenIds: tokenIds(fields, vocabSize),
    embedding: embeddingOf(ends.inner('embedding')),
    head: headOf(ends.inner('lm_head')),
    tokenizer: fields.fileName('tokenizer'),
    chatTemplate: fields.optionalFileName('chat_template'),
    specialTokens: fields.texts('special_tokens', 64),
    generation: generationOf(fields),
  };
  const files = neededFiles(manifest, listedFiles(fields));
  return { ...manifest, files, size: files.reduce((sum, file) => sum + file.size, 0) };
}

/** @param {Fields} fields @param {number} vocabSize */
function tokenIds(fields, vocabSize) {
  const ids = fields.items('eos_token_ids', 256);
  const known = ids.every((id) => Number.isSafeInteger(id) && Number(id) >= 0 && Number(id) < vocabSize);
  if (!known) throw new ManifestInvalid('eos_token_ids holds something that is not a token of the model');
  return [...new Set(/** @type {number[]} */ (ids))];
}

/** @param {Fields} fields @returns {Manifest['embedding']} */
function embeddingOf(fields) {
  return {
    file: fields.fileName('file'),
    dtype: fields.choice('dtype', FLOATS),
    rows: fields.count('rows', 1, MAX_VOCAB),
    scale: fields.optionalNumber('scale'),
  };
}

/** @param {Fields} fields @returns {Manifest['head']} */
function headOf(fields) {
  const softcap = fields.optionalNumber('softcap');
  const divide = fields.has('logit_divisor');
  if (divide && fields.has('logit_scale')) {
    throw new ManifestInvalid('lm_head has both logit_scale and logit_divisor');
  }
  const logitScale = fields.number(divide ? 'logit_divisor' : 'logit_scale');
  if ((softcap !== null && softcap <= 0) || logitScale <= 0) {
    throw new ManifestInvalid('softcap, logit_scale and logit_divisor must be positive');
  }
  return {
    file: fields.fileName('file'),
    dtype: fields.choice('dtype', FLOATS),
    rows: fields.count('rows', 1, MAX_VOCAB),
    bias: fields.optionalFileName('bias'),
    softcap,
    logitScale,
    divide,
  };
}

/** @param {Fields} fields @returns {Record<string, number>} */
function generationOf(fields) {
  if (!fields.has('generation')) return {};
  const inner = fields.inner('generation');
  const named = GENERATION.filter((name) => inner.has(name));
  return Object.fromEntries(named.map((name) => [name, inner.number(name)]));
}

/** Files by name. @param {Fields} fields @returns {Map<string, FileEntry>} */
function listedFiles(fields) {
  const seen = new Set([MANIFEST_NAME]);
  const entries = new Map();
  fields.items('files', MAX_FILES).forEach((item, index) => {
    const entry = fileOf(new Fields(item, `files[${index}]`));
    // Some file systems do not tell upper from lower case; the app keeps to what every reader accepts.
    const name = entry.name.toLowerCase();
    if (seen.has(name)) throw new ManifestInvalid(`two files are called '${entry.name}'`);
    seen.add(name);
    entries.set(entry.name, entry);
  });
  return entries;
}

/** @param {Fields} fields @returns {FileEntry} */
function fileOf(fields) {
  const size = fields.count('size', 1, MAX_FILE_BYTES);
  const chunkSize = fields.count('chunk_size', ...CHUNK_BYTES);
  const chunks = fields.items('chunks', MAX_CHUNKS);
  if (chunks.length !== Math.ceil(size / chunkSize) || !chunks.every(isSha256)) {
    throw new ManifestInvalid("a file's chunks do not match its size");
  }
  return { name: fields.fileName('name'), size, sha256: fields.sha256('sha256'), chunkSize, chunks };
}

/**
 * The files that the device needs, each once, and none other.
 * @param {Pick<Manifest, 'embedding'|'head'|'tokenizer'|'chatTemplate'>} manifest
 * @param {Map<string, FileEntry>} listed
 */
function neededFiles({ embedding, head, tokenizer, chatTemplate }, listed) {
  const names = new Set([embedding.file, head.file, head.bias, tokenizer, chatTemplate]);
  return [...names].flatMap((name) => {
    if (name === null) return [];
    const entry = listed.get(name);
    if (!entry) throw new ManifestInvalid(`'${name}' is used and not in the list of files`);
    return [entry];
  });
}

/**
 * Sizes against shapes: a file must hold exactly the rows that are read from it.
 * @param {Manifest} manifest
 */
function checked(manifest) {
  const { embedding, head, vocabSize } = manifest;
  if (embedding.rows !== vocabSize || head.rows > vocabSize) {
    throw new ManifestInvalid('the rows of the ends do not match vocab_size');
  }
  const tensors = tensorBytes(manifest);
  for (const [name, size] of tensors) {
    const listed = fileEntry(manifest, name).size;
    if (listed !== size) throw new ManifestInvalid(`'${name}' has ${listed} bytes, its shape needs ${size}`);
  }
  checkTextFile(manifest, tensors, manifest.tokenizer, MAX_TOKENIZER_BYTES);
  if (manifest.chatTemplate !== null) {
    checkTextFile(manifest, tensors, manifest.chatTemplate, MAX_TEMPLATE_BYTES);
  }
  return manifest;
}

/** What the shapes need of each file. @param {Manifest} manifest @returns {Map<string, number>} */
function tensorBytes({ embedding, head, hiddenSize }) {
  const wanted = new Map([[embedding.file, embedding.rows * hiddenSize * ITEM_BYTES[embedding.dtype]]]);
  const headBytes = head.rows * hiddenSize * ITEM_BYTES[head.dtype];
  if (wanted.has(head.file) && (wanted.get(head.file) !== headBytes || head.rows !== embedding.rows)) {
    throw new ManifestInvalid('the two ends share a file and not its shape');
  }
  wanted.set(head.file, headBytes);
  if (head.bias === null) return wanted;
  if (wanted.has(head.bias)) throw new ManifestInvalid('the bias shares a file with something else');
  return wanted.set(head.bias, 4 * head.rows);
}

/**
 * @param {Manifest} manifest
 * @param {Map<string, number>} tensors
 * @param {string} name
 * @param {number} limit
 */
function checkTextFile(manifest, tensors, name, limit) {
  if (tensors.has(name) || fileEntry(manifest, name).size > limit) {
    throw new ManifestInvalid(`'${name}' is not a text file of at most ${limit} bytes`);
  }
}
