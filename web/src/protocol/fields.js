// Typed reading of a message's fields; every failure is a MalformedMessage that names the field.
//
// An optional field that is nil counts as missing: some encoders write their absent values.
import { isCode, printable } from '../common/stranger.js';
import { MalformedMessage } from './errors.js';
import { MAX_CAPABILITIES, MAX_TEXT } from './limits.js';
import { Real } from './msgpack.js';


/** A reader over one message's map. Unknown keys are never looked at. */
export class Fields {
  /** @param {Map<string, unknown>} values */
  constructor(values) {
    this._values = values;
  }

  /** @param {string} name */
  has(name) {
    return (this._values.get(name) ?? null) !== null;
  }

  /** @param {string} name */
  raw(name) {
    return this._values.get(name) ?? null;
  }

  /** @param {string} name */
  text(name) {
    const value = this._values.get(name);
    if (!isShortText(value)) {
      throw new MalformedMessage(`'${name}' must be text of at most ${MAX_TEXT} characters`);
    }
    return value;
  }

  /** @param {string} name */
  optionalText(name) {
    return this.has(name) ? this.text(name) : null;
  }

  /** A word of small letters, digits and underscores. @param {string} name */
  code(name) {
    const value = this._values.get(name);
    if (typeof value !== 'string' || !isCode(value)) {
      throw new MalformedMessage(`'${name}' must be a word of letters, digits and '_'`);
    }
    return value;
  }

  /** @param {string} name @param {number} [limit] */
  count(name, limit = Number.MAX_SAFE_INTEGER) {
    const value = this._values.get(name);
    if (typeof value !== 'number' || value < 0 || value > limit) {
      throw new MalformedMessage(`'${name}' must be a whole number from 0 to ${limit}`);
    }
    return value;
  }

  /** 0 when the field is missing. @param {string} name @param {number} [limit] */
  optionalCount(name, limit) {
    return this.has(name) ? this.count(name, limit) : 0;
  }

  /** @param {string} name @param {boolean} [missing] what a field that is missing says */
  flag(name, missing = false) {
    const value = this._values.get(name) ?? missing;
    if (typeof value !== 'boolean') throw new MalformedMessage(`'${name}' must be true or false`);
    return value;
  }

  /** @param {string} name @param {number} size */
  digest(name, size) {
    const value = this._values.get(name);
    if (!(value instanceof Uint8Array) || value.length !== size) {
      throw new MalformedMessage(`'${name}' must be ${size} bytes`);
    }
    return value;
  }

  /** Empty when the field is missing. @param {string} name @param {number} size */
  optionalDigest(name, size) {
    return this.has(name) ? this.digest(name, size) : new Uint8Array(0);
  }

  /**
   * Text for a person to read, "" when the field is missing; what is not printable becomes a space.
   * @param {string} name
   * @param {number} limit characters that are kept
   */
  printable(name, limit) {
    const value = this._values.get(name) ?? '';
    if (typeof value !== 'string') throw new MalformedMessage(`'${name}' must be text`);
    return printable(value, limit);
  }

  /** @param {string} name @returns {string[]} */
  texts(name) {
    const value = this._values.get(name) ?? [];
    if (!Array.isArray(value) || value.length > MAX_CAPABILITIES || !value.every(isShortText)) {
      throw new MalformedMessage(`'${name}' must be a list of at most ${MAX_CAPABILITIES} short texts`);
    }
    return value;
  }

  /** @param {string} name @returns {number | null} */
  optionalSeconds(name) {
    if (!this.has(name)) return null;
    const value = this._values.get(name);
    const seconds = value instanceof Real ? value.value : value;
    // NaN fails both comparisons.
    if (typeof seconds !== 'number' || !(seconds >= 0 && seconds < 1e9)) {
      throw new MalformedMessage(`'${name}' must be a number of seconds`);
    }
    return seconds;
  }
}

/** @param {unknown} value @returns {value is string} */
function isShortText(value) {
  if (typeof value !== 'string') return false;
  // A character beyond 16 bits is two units of a string.
  return value.length <= MAX_TEXT || (value.length <= 2 * MAX_TEXT && [...value].length <= MAX_TEXT);
}
