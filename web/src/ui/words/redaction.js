// Words of what is to be redacted, and what is typed for it.
import { LONGEST_NAME, MOST_NAMES } from '../../settings/redaction_check.js';
import { t } from './languages/words.js';

// A name that could be one, as far as can be told without the rules.
const WORD = /\p{Script=Latin}{2}/u;

/** What can be switched, in the words for it. @returns {readonly (readonly [string, string])[]} */
export function groupWords() {
  return [
    ['names', t('Names')],
    ['phones', t('Phone numbers')],
    ['emails', t('E-mail addresses')],
    ['addresses', t('Postal addresses')],
    ['ibans', 'IBAN'],
    ['cards', t('Card numbers')],
    ['ids', t('National ids')],
    ['dates', t('Dates, as those of birth')],
  ];
}

/**
 * Names of a person's own: one person a line; empty lines and those that begin with # are none.
 * @param {string} text @returns {import('./sampling.js').Read<string[]>}
 */
export function readNames(text) {
  const names = text.split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
  if (names.length > MOST_NAMES) return { problem: t('At most {n} names.', { n: MOST_NAMES }) };
  const wrong = names.find((name) => name.length > LONGEST_NAME || !WORD.test(name));
  if (wrong === undefined) return { value: names };
  return { problem: t('“{name}” has no word of two Latin letters that could be a name.', { name: wrong.slice(0, 40) }) };
}

/**
 * Codes of countries, as they are typed.
 * @param {string} text @returns {import('./sampling.js').Read<string[]>}
 */
export function readRegions(text) {
  const codes = text.toUpperCase().split(/[\s,;]+/).filter(Boolean);
  const known = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const wrong = codes.find((code) => !/^[A-Z]{2}$/.test(code) || !known.of(code));
  if (wrong !== undefined) return { problem: t('{code} is no country’s two letters, like DE.', { code: wrong.slice(0, 20) }) };
  return codes.length > 16 ? { problem: t('At most 16 countries.') } : { value: [...new Set(codes)] };
}
