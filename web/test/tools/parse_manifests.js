// For tests/web/weights/test_manifest.py: a JSON list of manifests (base64) on stdin; for each what was read, or null,
// on stdout.
import { readFileSync } from 'node:fs';
import { AppError } from '../../src/common/errors.js';
import { parseManifest } from '../../src/weights/manifest.js';

/** @param {string} text */
function parsed(text) {
  try {
    return parseManifest(new Uint8Array(Buffer.from(text, 'base64')));
  } catch (error) {
    if (error instanceof AppError && error.code === 'manifest_invalid') return null;
    throw error;
  }
}

/** @type {string[]} */
const manifests = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(manifests.map(parsed)));
