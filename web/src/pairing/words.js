/** Explanations of what went wrong, for the person who pairs. */
import { AppError } from '../common/errors.js';

/** @type {Record<string, string>} */
const WORDS = {
  pairing_refused:
    'This code is wrong, used already, or older than five minutes; five wrong tries void all codes. ' +
    'Run "split-server pair" on the server for another one.',
  pairing_busy: 'There were too many tries. Wait a minute and try again.',
  server_unreachable: 'The server does not answer. Is it running, and is this device in its network?',
};

/** @param {unknown} error @returns {string} */
export function explain(error) {
  if (!(error instanceof AppError)) return 'Something failed that should not. Reload the page and try again.';
  return WORDS[error.code] ?? sentence(error.message);
}

/** @param {string} text */
function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');
}
