/** Text files that go with a message, written into it as the terminal's `/file` does. */
import { AppError } from '../common/errors.js';

/** @typedef {{name: string, text: string}} Attached */

export const MAX_BYTES = 1 << 20;
export const MOST_FILES = 8;

/** A file that cannot go along. */
export class AttachmentRefused extends AppError {
  /** @param {string} name @param {string} why */
  constructor(name, why) {
    super('attachment_refused', `${name.slice(0, 100)} cannot go along: ${why}`);
  }
}

/**
 * @param {Pick<File, 'name' | 'size' | 'arrayBuffer'>} file
 * @returns {Promise<Attached>} throws AttachmentRefused
 */
export async function readAttached(file) {
  if (file.size > MAX_BYTES) throw new AttachmentRefused(file.name, `text files of at most ${MAX_BYTES >> 20} MB can`);
  const bytes = await file.arrayBuffer().catch(() => {
    throw new AttachmentRefused(file.name, 'it cannot be read');
  });
  try {
    // Half of the files that are no text have a zero byte, which UTF-8 would allow.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return { name: oneLine(file.name), text };
  } catch {
    // Told below.
  }
  throw new AttachmentRefused(file.name, 'it is not text in UTF-8');
}

/** Whether so many go with one message. @param {readonly {name: string}[]} files throws AttachmentRefused */
export function requireFew(files) {
  if (files.length <= MOST_FILES) return;
  throw new AttachmentRefused(files[MOST_FILES].name, `${MOST_FILES} files go with one message; send it, or leave some out`);
}

/** A message followed by its files. @param {string} message @param {readonly Attached[]} files @returns {string} throws AttachmentRefused */
export function withFiles(message, files) {
  requireFew(files);
  return [message, ...files.map(fenced)].join('\n\n');
}

/** A file between fences that are longer than any in its text. @param {Attached} file */
export function fenced({ name, text }) {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${name}:\n${fence}\n${text.trimEnd()}\n${fence}`;
}

/** @param {string} name */
function oneLine(name) {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim().slice(0, 200) || 'file';
}
