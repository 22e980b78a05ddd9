import { formsOf } from '../../src/weights/download/blocks.js';
import { parseManifest } from '../../src/weights/manifest.js';
import { encode, HIDDEN, listed, noise, Offer, VOCAB } from './offers.js';

export const PACKED = 'embedding.bin.q8_0';
const BLOCKS = blocks();

/** Scales of 1 to 2, so that every value is a number. */
function blocks() {
  const bytes = noise((VOCAB * HIDDEN * 34) / 32, 5);
  for (let at = 0; at < bytes.length; at += 34) bytes[at + 1] = 0x3c;
  return bytes;
}

/** The rows of some blocks, told again plainly. @param {Uint8Array} packed */
function rowsOf(packed) {
  const rows = new Uint16Array((packed.length / 34) * 32);
  const bits = new Uint32Array(1);
  const value = new Float32Array(bits.buffer);
  for (let i = 0; i < rows.length; i += 1) {
    const at = Math.floor(i / 32) * 34;
    value[0] = (1 + (packed[at] / 1024)) * ((packed[at + 2 + (i % 32)] << 24) >> 24);
    const over = bits[0] % 65536;
    const down = (bits[0] - over) / 65536;
    rows[i] = down + Number(over > 32768 || (over === 32768 && down % 2 === 1));
  }
  return new Uint8Array(rows.buffer);
}

/** A model of bfloat16 whose table the server has in blocks, too. */
export class PackedOffer extends Offer {
  constructor(change = (/** @type {any} */ document) => document) {
    const files = {
      'embedding.bin': rowsOf(BLOCKS),
      'tokenizer.json': encode('{"tokenizer": true}'),
      'chat_template.jinja': encode('{{ messages }}'),
    };
    super(files, (document) => {
      for (const end of Object.values(document.ends)) /** @type {any} */ (end).dtype = 'bf16';
      document.files = Object.entries(files).map(([name, bytes]) => listed(name, bytes));
      return change(document);
    });
    // Beside the manifest.
    this.files = { ...files, [PACKED]: BLOCKS };
  }

  /** What a pull of it is given. */
  forms() {
    return formsOf(parseManifest(this.manifest), PACKED);
  }
}
