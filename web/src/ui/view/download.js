/**
 * Saves a file the way a browser does.
 * @param {string} name
 * @param {Blob} blob
 */
export function saveFile(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has read the address by the next turn; kept, it would hold the bytes.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
