// Frames with any header, also such as no encoder writes.

/**
 * @param {number[]} header bytes of msgpack
 * @param {number[]} [rest] what follows the header
 */
export function frameOf(header, rest = []) {
  const length = header.length;
  const prefix = [0x53, 0x50, 0x4c, 0x31, length & 0xff, (length >> 8) & 0xff, length >> 16, 0];
  return Uint8Array.from([...prefix, ...header, ...rest]);
}

/** A short text in msgpack. @param {string} text */
export function packed(text) {
  const bytes = Array.from(new TextEncoder().encode(text));
  return bytes.length < 32 ? [0xa0 + bytes.length, ...bytes] : [0xd9, bytes.length, ...bytes];
}
