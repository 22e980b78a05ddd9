/** @typedef {import('../types').Redaction} Redaction */

/** With the entries of both: what was added elsewhere meanwhile is not lost. @param {Redaction} redaction @param {readonly import('../types').Entry[]} entries */
export function withEntries(redaction, entries) {
  const known = new Set(redaction.entries.map(nameOf));
  const added = entries.filter((entry) => !known.has(nameOf(entry)));
  return added.length ? { ...redaction, entries: [...redaction.entries, ...added] } : redaction;
}

/** A word has one entry, whichever name it is. @param {import('../types').Entry} entry */
function nameOf({ kind, key }) {
  return `${kind === 'family' ? 'given' : kind} ${key}`;
}
