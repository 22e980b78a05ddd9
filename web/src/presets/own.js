/** One's own presets, kept in this browser; the rules for names are the terminal's. */
import { PresetExists, PresetFailed, PresetNameInvalid, PresetUnknown } from './errors.js';

/** @typedef {Pick<Storage, 'getItem' | 'setItem'>} Memory */

export const KEY = 'gatelink.presets';
export const MOST = 100;
const LONGEST_TEXT = 100_000;
const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;

export class OwnPresets {
  /** @param {Memory | null} memory null: this browser keeps nothing */
  constructor(memory) {
    this._memory = memory;
  }

  /** By name. @returns {Map<string, string>} */
  all() {
    return new Map(checked(read(this._memory)));
  }

  /**
   * Keeps a text; another one of that name is not lost for it.
   * @param {string} name @param {string} text @returns {string} the name as it is kept
   * Throws PresetNameInvalid, PresetExists, PresetFailed.
   */
  save(name, text) {
    const own = this.all();
    const kept = named(name);
    if ((own.get(kept) ?? text) !== text) throw new PresetExists(kept);
    if (!text.trim()) throw new PresetFailed('a preset has a text; write a system prompt first');
    if (text.length > LONGEST_TEXT) throw new PresetFailed(`a preset has at most ${LONGEST_TEXT} characters`);
    if (!own.has(kept) && own.size >= MOST) throw new PresetFailed(`there are ${MOST} presets already; delete one first`);
    this._write(own.set(kept, text));
    return kept;
  }

  /** @param {string} from @param {string} to @returns {string} throws as `save`, and PresetUnknown */
  rename(from, to) {
    const own = this.all();
    const text = own.get(from);
    if (text === undefined) throw new PresetUnknown(from, [...own.keys()]);
    const kept = named(to);
    if (kept === from) return kept;
    if (own.has(kept)) throw new PresetExists(kept);
    own.delete(from);
    this._write(own.set(kept, text));
    return kept;
  }

  /** @param {string} name throws PresetFailed */
  remove(name) {
    const own = this.all();
    if (own.delete(name)) this._write(own);
  }

  /** @param {Map<string, string>} own */
  _write(own) {
    try {
      if (!this._memory) throw new PresetFailed('this browser keeps nothing for the page');
      this._memory.setItem(KEY, JSON.stringify([...own]));
    } catch (error) {
      throw error instanceof PresetFailed ? error : new PresetFailed('the storage of this browser is full', error);
    }
  }
}

/** @param {string} given */
function named(given) {
  const name = given.trim().replace(/^@/, '').toLowerCase();
  if (!NAME.test(name)) throw new PresetNameInvalid(given);
  return name;
}

/** @param {Memory | null} memory @returns {unknown} */
function read(memory) {
  try {
    return JSON.parse(memory?.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
}

/** What of it are presets. @param {unknown} value @returns {[string, string][]} */
function checked(value) {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST).filter((pair) => {
    const [name, text] = Array.isArray(pair) ? pair : [];
    return typeof name === 'string' && NAME.test(name) && typeof text === 'string' && text.length <= LONGEST_TEXT;
  });
}
