// Reads lists of adapters on request of another language. JSON on stdin: {"documents": [base64]}; on stdout,
// for each, the adapters or {"code"} of the error.
import { readFileSync } from 'node:fs';
import { parseListing } from '../../../src/adapters/listing.js';
import { AppError } from '../../../src/common/errors.js';

/** @param {string} document */
function read(document) {
  try {
    return parseListing(Uint8Array.from(Buffer.from(document, 'base64')));
  } catch (error) {
    if (error instanceof AppError) return { code: error.code };
    throw error;
  }
}

const { documents } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(documents.map(read)));
