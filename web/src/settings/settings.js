/** A person's settings, kept in this browser. Where it keeps nothing, as long as the page. */
import { CHECKS, DEFAULTS, SAMPLING } from './fields.js';

/** @typedef {import('./types').Settings} Settings */

export const KEY = 'gatelink.settings';
export { DEFAULTS };

// For pages that may not write: private windows, blocked cookies, a full storage.
/** @type {string|null} */
let unwritten = null;

/**
 * Every field is checked: one that is missing or invalid is the default, an unknown one is dropped.
 * @param {Pick<Storage, 'getItem'>|null} [storage]
 * @returns {Settings}
 */
export function loadSettings(storage = storageHere()) {
  return checkedSettings(parsed(unwritten ?? read(storage)));
}

/**
 * @param {Settings} settings
 * @param {Pick<Storage, 'setItem'>|null} [storage]
 * @returns {boolean} false: they last as long as the page only
 */
export function saveSettings(settings, storage = storageHere()) {
  const text = JSON.stringify(checkedSettings(settings));
  try {
    storage?.setItem(KEY, text);
    unwritten = storage ? null : text;
  } catch {
    unwritten = text;
  }
  return unwritten === null;
}

/** Whether a field may have this value. @param {string} name @param {unknown} value */
export function isSetting(name, value) {
  return Object.hasOwn(CHECKS, name) && CHECKS[/** @type {keyof Settings} */ (name)](value);
}

/**
 * The sampling fields that are set, in snake_case, as EngineClient.reply takes them.
 * @param {Settings} settings
 * @returns {Record<string, number|bigint|Record<string, number>>}
 */
export function samplingFields(settings) {
  const names = /** @type {(keyof Settings)[]} */ (Object.keys(SAMPLING));
  const pairs = names.filter((name) => settings[name] !== null).map((name) => {
    return [name, name === 'seed' ? BigInt(/** @type {string} */ (settings.seed)) : settings[name]];
  });
  return Object.fromEntries(pairs);
}

/**
 * Tells when another tab has changed them.
 * @param {(settings: Settings) => void} callback
 * @param {Pick<Window, 'addEventListener'|'removeEventListener'>} [page]
 * @returns {() => void} stops it
 */
export function watchSettings(callback, page = window) {
  /** @param {StorageEvent} event */
  const changed = (event) => {
    if (event.key === KEY) callback(checkedSettings(parsed(event.newValue)));
  };
  page.addEventListener('storage', changed);
  return () => page.removeEventListener('storage', changed);
}

/** @param {unknown} value @returns {Settings} */
export function checkedSettings(value) {
  const given = typeof value === 'object' && value !== null ? named(value) : {};
  const pairs = Object.entries(DEFAULTS).map(([name, initial]) => {
    const own = Object.hasOwn(given, name) ? /** @type {Record<string, unknown>} */ (given)[name] : undefined;
    return [name, isSetting(name, own) ? own : initial];
  });
  return Object.fromEntries(pairs);
}

/**
 * Version 0.1 kept `enterSends`, of which only false was a choice for certain.
 * @param {object} given
 */
function named(given) {
  return 'enterSends' in given && given.enterSends === false ? { enter: 'breaks', ...given } : given;
}

/** @param {string|null} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** @param {Pick<Storage, 'getItem'>|null} storage */
function read(storage) {
  try {
    return storage?.getItem(KEY) ?? null;
  } catch {
    return null;
  }
}

/** Reading `localStorage` itself throws where cookies are blocked. */
function storageHere() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}
