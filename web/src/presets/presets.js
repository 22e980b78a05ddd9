import { BUILTIN } from './builtin.js';
import { PresetUnknown } from './errors.js';

/** own: a person's, which may hide one that comes along. @typedef {{name: string, text: string, own: boolean}} Preset */
/** @typedef {ReadonlyMap<string, string>} Own texts by name */

/** @type {Own} */
const NONE = new Map();

/** All presets, by name. @param {Own} [own] @returns {Preset[]} */
export function presets(own = NONE) {
  const names = new Set([...own.keys(), ...Object.keys(BUILTIN)]);
  return [...names].sort().map((name) => ({ name, text: own.get(name) ?? BUILTIN[name], own: own.has(name) }));
}

/**
 * The system message that `given` means: itself, or for `@NAME` the text of that preset; `@@` begins with one
 * `@`. Throws PresetUnknown.
 * @param {string} given @param {Own} [own]
 */
export function presetText(given, own = NONE) {
  if (given.startsWith('@@')) return given.slice(1);
  return given.startsWith('@') ? findPreset(given.slice(1), own).text : given;
}

/**
 * One preset, in any case. Throws PresetUnknown.
 * @param {string} name @param {Own} [own]
 * @returns {Preset}
 */
export function findPreset(name, own = NONE) {
  const wanted = name.trim().toLowerCase();
  const all = presets(own);
  const found = all.find((preset) => preset.name === wanted);
  if (!found) throw new PresetUnknown(name, all.map((preset) => preset.name));
  return found;
}
