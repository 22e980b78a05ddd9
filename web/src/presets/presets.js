import { BUILTIN } from './builtin.js';
import { PresetUnknown } from './errors.js';

/** @typedef {{name: string, text: string}} Preset */

/** All presets, by name. @returns {Preset[]} */
export function presets() {
  return Object.keys(BUILTIN)
    .sort()
    .map((name) => ({ name, text: BUILTIN[name] }));
}

/**
 * The system message that `given` means: itself, or for `@NAME` the text of that preset; `@@` begins with one
 * `@`. Throws PresetUnknown.
 * @param {string} given
 */
export function presetText(given) {
  if (given.startsWith('@@')) return given.slice(1);
  return given.startsWith('@') ? findPreset(given.slice(1)).text : given;
}

/**
 * One preset, in any case. Throws PresetUnknown.
 * @param {string} name
 * @returns {Preset}
 */
export function findPreset(name) {
  const wanted = name.trim().toLowerCase();
  if (!Object.hasOwn(BUILTIN, wanted)) throw new PresetUnknown(name, Object.keys(BUILTIN));
  return { name: wanted, text: BUILTIN[wanted] };
}
