// Types that more than one room uses.

/** The dtype in which a hidden state or an embedding row travels. */
export type DType = 'f32' | 'f16' | 'bf16' | 'i8';
export type FloatName = 'f32' | 'f16' | 'bf16';

export interface FileEntry {
  name: string;
  size: number;
  sha256: string;
  chunkSize: number;
  chunks: string[];
}

export interface Manifest {
  digest: string;
  name: string;
  family: string;
  licence: string | null;
  hiddenSize: number;
  vocabSize: number;
  numLayers: number;
  maxContext: number;
  eosTokenIds: number[];
  embedding: { file: string; dtype: FloatName; rows: number; scale: number | null };
  head: {
    file: string;
    dtype: FloatName;
    rows: number;
    bias: string | null;
    softcap: number | null;
    logitScale: number;
    divide: boolean;
  };
  tokenizer: string;
  chatTemplate: string | null;
  specialTokens: Record<string, string>;
  /** As in the manifest: temperature, top_k, top_p, min_p, repetition_penalty. */
  generation: Record<string, number>;
  files: FileEntry[];
  size: number;
}

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/**
 * How a chat's rows are noised before they leave, by `epsilon` or by `sigma` (docs/privacy.md); while it is
 * not on it keeps its numbers. `clip` null: the norm of 99% of the table's rows, `budget` null: no bound.
 */
/** What a reply has to be; `text` of a schema is JSON. */
export type Form =
  | { kind: 'json_object' }
  | { kind: 'json_schema' | 'regex'; text: string }
  | { kind: 'choice'; texts: string[] };

/** How a person chose it; `text`: a schema, a regex, or texts to choose from, one a line. */
export interface FormChoice {
  kind: Form['kind'];
  text: string;
}

/**
 * What becomes a surrogate before it leaves (docs/redaction.md): values of `groups`; `names` of one's own, one person each;
 * `regions`: countries whose phone numbers and ids may be written without their code, two letters each.
 */
export interface RedactionChoice {
  on: boolean;
  groups: string[];
  names: string[];
  regions: string[];
}

export interface NoiseChoice {
  on: boolean;
  epsilon: number | null;
  sigma: number | null;
  delta: number;
  clip: number | null;
  budget: number | null;
}

/** How the next token is chosen; see generation/params.js for ranges. */
export interface SamplingParams {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repetitionPenalty: number;
  presencePenalty: number;
  frequencyPenalty: number;
  seed: bigint | null;
  logitBias: Map<number, number>;
  banned: Set<number>;
}

/**
 * The first k rows outside `also` by (-logit, id), fewer where there are fewer, and the logits of `also` in its
 * order.
 */
export interface TopLogits {
  ids: Int32Array;
  logits: Float32Array;
  alsoLogits: Float32Array;
}

/** low <= true value <= high */
export interface Interval {
  low: number;
  high: number;
}

export interface LMHead {
  readonly rows: number;
  top(hidden: Float32Array, k: number, also?: Int32Array): Promise<TopLogits>;
  /**
   * `rest`: bounds of the sum of exp((logit - first of top) / temperature) over the rows that are neither in
   * `top` nor in `also`. null: only all logits can tell.
   */
  topAndRest(
    hidden: Float32Array,
    k: number,
    temperature: number,
    also?: Int32Array,
  ): Promise<{ top: TopLogits; rest: Interval } | null>;
  logits(hidden: Float32Array): Promise<Float32Array>;
}

export interface AdapterInfo {
  name: string;
  description: string;
  rank: number;
  hiddenSize: number;
  scale: number;
  keywords: string[];
  encrypted: boolean;
}

export interface Traffic {
  sent: number;
  received: number;
  exchanges: number;
}

/** Why the channel waits. Seconds. */
export interface Reconnecting {
  reason: string;
  attempt: number;
  delay: number;
}

/** A run of rows of one table in a store, as a plain object that crosses to a worker. */
export interface ShardDescriptor {
  kind: 'opfs' | 'indexeddb' | 'memory';
  /** What weights/shard.js needs to find it. */
  path: string[];
  /** Id of the first row, and how many. */
  first: number;
  rows: number;
  rowBytes: number;
  /** kind 'memory' only. */
  bytes?: Uint8Array;
}

/** Reads rows by their index within the shard (0..rows-1). Sync where the store is (OPFS). */
export interface ShardReader {
  readonly first: number;
  readonly rows: number;
  readonly rowBytes: number;
  /** Rows one after the other into `into` (indices.length * rowBytes bytes). */
  readRows(indices: Int32Array, into: Uint8Array): void | Promise<void>;
  readRange(start: number, count: number, into: Uint8Array): void | Promise<void>;
  /** A file derived from this shard, kept beside it and deleted with it; null: none that is sealed. */
  openDerived(name: string, size: number): Promise<DerivedFile | null>;
  /** A new derived file; it counts once `seal` has ended. null: the store keeps none. */
  createDerived(name: string, size: number): Promise<DerivedFile | null>;
  close(): void;
}

export interface DerivedFile {
  read(offset: number, into: Uint8Array): void | Promise<void>;
  write(offset: number, bytes: Uint8Array): void | Promise<void>;
  seal(): Promise<void>;
  close(): void;
}
