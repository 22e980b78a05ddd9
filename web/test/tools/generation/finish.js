// Finishes products of a LM head on request of another language. JSON on stdin: {"cases": [{products, bias
// (base64 of f32, bias may be null), softcap, scale, divide, ids, biased}]}; on stdout, for each case, the
// base64 of its logits and the lowest rivals of the numbers in `biased` (null: not finite).
import { readFileSync } from 'node:fs';
import { HeadSpec } from '../../../src/generation/head_spec.js';

/** @param {string} text */
function floats(text) {
  return new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
}

/** @param {any} request */
function finished({ products, bias, softcap, scale, divide, ids, biased }) {
  const spec = new HeadSpec({ bias: bias === null ? null : floats(bias), softcap, scale, divide });
  const logits = spec.finish(floats(products), ids === null ? null : Int32Array.from(ids));
  return {
    logits: Buffer.from(logits.slice().buffer).toString('base64'),
    rivals: biased.map((/** @type {number} */ value) => spec.lowestRival(value)),
  };
}

const { cases } = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(cases.map(finished)));
