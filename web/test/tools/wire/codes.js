// Reads frames as a JSON list of hex on stdin; writes what each means to a device and to a server:
// the code of the error, or every field of the message.
import { WireError } from '../../../src/protocol/errors.js';
import { decodeClientMessage, decodeServerMessage } from '../../../src/protocol/parsing.js';
import { describe, unhex } from '../../protocol/vectors.js';

/** @type {Buffer[]} */
const parts = [];
for await (const part of process.stdin) parts.push(part);
const { frames, limit } = JSON.parse(Buffer.concat(parts).toString());

/** @param {(bytes: Uint8Array, limit: number) => any} read @param {Uint8Array} bytes */
function meaning(read, bytes) {
  try {
    return describe(read(bytes, limit));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return error.code;
  }
}

const readers = [decodeServerMessage, decodeClientMessage];
const meanings = frames.map((/** @type {string} */ frame) => readers.map((read) => meaning(read, unhex(frame))));
process.stdout.write(JSON.stringify(meanings));
