// Checks of a step before it is sent: what the server would answer to it, and what its session does not allow.
import { ContextOverflow, ProtocolStateError, TooManyRows, Unsupported, WrongShape } from '../errors.js';
import { ROWS, counted } from './returned.js';

/** @typedef {import('../messages.js').Opened} Opened */

/**
 * @param {Opened} opened
 * @param {number} start positions that are kept
 * @param {number} rows that are appended, a fraction where the values are no rows
 * @returns {number} `rows`
 * @throws {WrongShape | TooManyRows | ContextOverflow}
 */
export function checkedRows({ maxRows, maxContext }, start, rows) {
  if (!Number.isInteger(rows) || rows < 1) throw new WrongShape([rows], 'at least one row, and whole ones,');
  if (rows > maxRows) throw new TooManyRows(rows, maxRows);
  if (start + rows > maxContext) throw new ContextOverflow(start + rows, maxContext);
  return rows;
}

/**
 * @param {Opened} opened
 * @param {import('./returned.js').Rows} wanted whose states come back
 * @param {number} rows of the step
 * @throws {ProtocolStateError | Unsupported}
 */
export function checkReturned({ capabilities }, wanted, rows) {
  if (wanted === 'last' || wanted === 'all') return;
  if (!counted(wanted, rows)) throw new ProtocolStateError(`of ${rows} rows ${wanted} cannot be asked for`);
  if (!capabilities.includes(ROWS)) throw new Unsupported(ROWS);
}
