// Types that the three kinds of store have in common; store.js and pull.js know nothing else of them.

/** A run of bytes of one of the manifest's files, stored as a file (or a series of records) of its own. */
export interface Part {
  /** Made here, never from a name that the server chose. */
  name: string;
  /** Where it begins in the manifest's file, and how long it is. Bytes. */
  start: number;
  size: number;
  /** Null for files that are not tensors. */
  rowBytes: number | null;
  firstRow: number;
  rows: number;
}

export interface Layout {
  shards: number;
  parts: Part[];
  /** By the name of the manifest's file. */
  byFile: Map<string, Part[]>;
  /** The number of each file's first chunk, counted over all files. */
  firstChunk: Map<string, number>;
  chunks: number;
}

/** Bytes of a chunk that belong into one part. */
export interface Piece {
  part: Part;
  /** Offset in the part. */
  at: number;
  bytes: Uint8Array;
}

export interface Kept {
  manifest: Uint8Array;
  journal: Uint8Array;
}

/** Writes the parts of one model; one at a time. */
export interface Writer {
  /** The pieces, then the journal's byte `journalAt` set to 1; both durable when it ends. */
  keep(pieces: Piece[], journalAt: number): Promise<void>;
  /** Closes the parts and sets the journal's byte `journalAt` to 1. */
  seal(journalAt: number): Promise<void>;
  close(): void;
}

/** Methods throw what the browser throws; store.js translates. */
export interface Backend {
  readonly kind: 'opfs' | 'indexeddb' | 'memory';
  digests(): Promise<string[]>;
  /** Null where nothing of the model is kept. */
  read(digest: string): Promise<Kept | null>;
  /** Room for a model in place of whatever was there. */
  begin(digest: string, kept: Kept): Promise<void>;
  write(digest: string, layout: Layout): Promise<Writer>;
  /** Whether every part has its size. */
  whole(digest: string, layout: Layout): Promise<boolean>;
  /** All that a model takes, derived files included. */
  bytes(digest: string, layout: Layout): Promise<number>;
  part(digest: string, part: Part): Promise<Uint8Array>;
  /** What openShard needs to find a part. */
  locate(digest: string, part: Part): { path: string[]; bytes?: Uint8Array };
  remove(digest: string): Promise<void>;
  dropDerived(digest: string): Promise<void>;
}
