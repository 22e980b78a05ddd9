import { ManifestInvalid } from './errors.js';

const SHA256 = /^[0-9a-f]{64}$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.[A-Za-z0-9_-]{1,16}){0,3}$/;
const MAX_TEXT = 200;
const MAX_NUMBER = 1e9;

/**
 * Whether `value` is a SHA-256 in lower-case hexadecimal.
 * @param {unknown} value
 * @returns {value is string}
 */
export function isSha256(value) {
  return typeof value === 'string' && SHA256.test(value);
}

/** Length in code points, as Python counts. @param {string} text @param {number} limit */
function fits(text, limit) {
  return text.length <= limit || (text.length <= 2 * limit && [...text].length <= limit);
}

/**
 * Typed reading of one JSON object that is not trusted; every failure is a ManifestInvalid that names the
 * field.
 */
export class Fields {
  /** @param {unknown} values @param {string} [where] names the object in errors */
  constructor(values, where = '') {
    if (typeof values !== 'object' || values === null || Array.isArray(values)) {
      throw new ManifestInvalid(`${where || 'it'} is not a JSON object`);
    }
    this.values = /** @type {Record<string, unknown>} */ (values);
    this.where = where ? `${where}.` : '';
  }

  /** @param {string} name @returns {unknown} */
  get(name) {
    return Object.hasOwn(this.values, name) ? this.values[name] : undefined;
  }

  /** The object under `name`. @param {string} name */
  inner(name) {
    return new Fields(this.get(name), this.where + name);
  }

  /** Whether `name` is there and not null. @param {string} name */
  has(name) {
    return (this.get(name) ?? null) !== null;
  }

  /** @param {string} name @param {number} limit @returns {unknown[]} */
  items(name, limit) {
    const value = this.get(name);
    if (!Array.isArray(value) || value.length > limit)
      throw this.#wrong(name, `an array of at most ${limit}`);
    return value;
  }

  /** An object of short texts; null values are left out. @param {string} name @param {number} limit */
  texts(name, limit) {
    const value = this.get(name) === undefined ? {} : this.get(name);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw this.#wrong(name, `an object of at most ${limit} entries`);
    }
    const entries = Object.entries(value);
    if (entries.length > limit) throw this.#wrong(name, `an object of at most ${limit} entries`);
    const kept = entries.filter(([, text]) => text !== null);
    const short = kept.flat().every((text) => typeof text === 'string' && fits(text, MAX_TEXT));
    if (!short) throw this.#wrong(name, 'an object of short texts');
    return /** @type {Record<string, string>} */ (Object.fromEntries(kept));
  }

  /** @param {string} name @param {number} [limit] characters */
  text(name, limit = MAX_TEXT) {
    const value = this.get(name);
    if (typeof value !== 'string' || value.length === 0 || !fits(value, limit)) {
      throw this.#wrong(name, `text of 1 to ${limit} characters`);
    }
    return value;
  }

  /** @param {string} name @param {number} low @param {number} high */
  count(name, low, high) {
    const value = this.get(name);
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < low || value > high) {
      throw this.#wrong(name, `a whole number from ${low} to ${high}`);
    }
    return value;
  }

  /** @param {string} name */
  number(name) {
    const value = this.get(name);
    if (typeof value !== 'number') throw this.#wrong(name, 'a number');
    if (!Number.isFinite(value) || Math.abs(value) > MAX_NUMBER) throw this.#wrong(name, 'a finite number');
    return value;
  }

  /** @param {string} name */
  optionalNumber(name) {
    return this.has(name) ? this.number(name) : null;
  }

  /** @template {string} T @param {string} name @param {readonly T[]} allowed @returns {T} */
  choice(name, allowed) {
    const value = allowed.find((one) => one === this.get(name));
    if (value === undefined) throw this.#wrong(name, `one of ${allowed.join(', ')}`);
    return value;
  }

  /** @param {string} name */
  sha256(name) {
    const value = this.get(name);
    if (!isSha256(value)) throw this.#wrong(name, 'a SHA-256 in hexadecimal');
    return value;
  }

  /** A plain name: no folder, no leading dot. @param {string} name */
  fileName(name) {
    const value = this.get(name);
    if (typeof value !== 'string' || !FILE_NAME.test(value)) throw this.#wrong(name, 'a plain file name');
    return value;
  }

  /** @param {string} name */
  optionalFileName(name) {
    return this.has(name) ? this.fileName(name) : null;
  }

  /** @param {string} name @param {string} wanted */
  #wrong(name, wanted) {
    return new ManifestInvalid(`${this.where}${name} is not ${wanted}`);
  }
}
