// GPT-2's alphabet: every byte is a printable character, so that vocabularies are readable text.

const CHARACTERS = makeCharacters();
const BYTES = new Map(CHARACTERS.map((character, byte) => [character, byte]));
const encoder = new TextEncoder();

/** The character that stands for a byte. @param {number} byte */
export function characterOf(byte) {
  return CHARACTERS[byte];
}

/**
 * What the characters of a token stand for; a token with any other character is its own UTF-8.
 * @param {string} token
 * @returns {Uint8Array}
 */
export function bytesOf(token) {
  const bytes = new Uint8Array(token.length);
  for (let index = 0; index < token.length; index += 1) {
    const byte = BYTES.get(token[index]);
    if (byte === undefined) return encoder.encode(token);
    bytes[index] = byte;
  }
  return bytes;
}

/** The text of UTF-8 bytes in the alphabet. @param {Uint8Array} bytes */
export function charactersOf(bytes) {
  let text = '';
  for (const byte of bytes) text += CHARACTERS[byte];
  return text;
}

/** Printable bytes of Latin-1 stand for themselves, the others for what follows U+00FF in their order. */
function makeCharacters() {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
    return String.fromCharCode(printable ? byte : next++);
  });
}
