/**
 * What the page says in the reader's language, in gettext's manner: the English words are the key. A dictionary is a
 * file of its own, loaded when its language is chosen.
 */
import { effect, signal } from '@preact/signals';

/**
 * By the English words: one form, or those for one and for many.
 * @typedef {Readonly<Record<string, string | readonly [string, string]>>} Dictionary
 */
/** @typedef {'auto' | Language} Choice */
/** @typedef {'en' | 'de'} Language */

/** @type {Record<string, () => Promise<{default: Dictionary}>>} */
const DICTIONARIES = { de: () => import('./de.js') };
export const LANGUAGES = /** @type {const} */ ([['auto', 'Auto'], ['en', 'English'], ['de', 'Deutsch']]);
/** @type {{language: Language, words: Dictionary}} */
const ENGLISH = { language: 'en', words: {} };

const shown = signal(ENGLISH);

/** @returns {Language} that is shown */
export function language() {
  return shown.value.language;
}

/**
 * The words in the shown language; `{name}` in them is replaced by that value.
 * @param {string} text in English @param {Readonly<Record<string, string | number>>} [values]
 * @returns {string}
 */
export function t(text, values) {
  const found = shown.value.words[text];
  return filled(typeof found === 'string' ? found : text, values);
}

/**
 * Words about a number of things, which is `{n}` in them.
 * @param {number} count @param {string} one the words in English for one, which are the key @param {string} many
 * @param {Readonly<Record<string, string | number>>} [values]
 * @returns {string}
 */
export function tn(count, one, many, values) {
  const { language: spoken, words } = shown.value;
  const found = words[one];
  const forms = Array.isArray(found) ? found : [one, many];
  const form = new Intl.PluralRules(spoken).select(count) === 'one' ? forms[0] : forms[1];
  return filled(form, { ...values, n: count.toLocaleString(spoken) });
}

/** @param {number} milliseconds since 1970 @param {Intl.DateTimeFormatOptions} how @returns {string} */
export function dated(milliseconds, how) {
  return new Intl.DateTimeFormat(shown.value.language, how).format(milliseconds);
}

/**
 * The first of a person's languages that the page has; English, where it has none.
 * @param {Choice} choice @param {readonly string[]} wanted as `navigator.languages`
 * @returns {Language}
 */
export function chosen(choice, wanted) {
  if (choice !== 'auto') return choice;
  const bases = wanted.map((tag) => tag.toLowerCase().split('-')[0]);
  const known = bases.find((base) => base === 'en' || Object.hasOwn(DICTIONARIES, base));
  return /** @type {Language} */ (known ?? 'en');
}

/**
 * Shows a language; one whose file cannot be had is shown in English.
 * @param {Language} wanted @param {() => boolean} [still] whether it is still wanted once it is there
 */
export async function show(wanted, still = () => true) {
  const load = DICTIONARIES[wanted];
  const read = (/** @type {{default: Dictionary}} */ file) => ({ language: wanted, words: file.default });
  const loaded = load ? await load().then(read, () => ENGLISH) : ENGLISH;
  if (still()) shown.value = loaded;
}

/**
 * Keeps the page in the language that the settings, or with 'auto' the browser, ask for.
 * @param {import('@preact/signals').ReadonlySignal<{language: Choice}>} settings
 */
export function followLanguage(settings) {
  const choice = () => chosen(settings.value.language, navigator.languages);
  effect(() => {
    const wanted = choice();
    void show(wanted, () => wanted === chosen(settings.peek().language, navigator.languages));
  });
  effect(() => void (document.documentElement.lang = shown.value.language));
}

/** @param {string} text @param {Readonly<Record<string, string | number>>} [values] */
function filled(text, values) {
  if (!values) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}
