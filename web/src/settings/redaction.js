/** What a chat begins to redact when that is switched on. */
import { GROUPS } from './redaction_check.js';

/** @typedef {import('../../types/gatelink').RedactionChoice} RedactionChoice */

// Every date is one of birth then, so they are left alone unless somebody asks.
const ON_REQUEST = 'dates';
const MOST_REGIONS = 4;

/** @param {readonly string[]} languages as `navigator.languages` @returns {RedactionChoice} */
export function firstRedaction(languages) {
  return { on: true, groups: GROUPS.filter((group) => group !== ON_REQUEST), names: [], regions: regionsOf(languages) };
}

/** The countries of languages, which those without one mostly have. @param {readonly string[]} languages @returns {string[]} */
function regionsOf(languages) {
  const regions = languages.map((tag) => {
    try {
      return new Intl.Locale(tag).maximize().region ?? '';
    } catch {
      return '';
    }
  });
  return [...new Set(regions)].filter((region) => /^[A-Z]{2}$/.test(region)).slice(0, MOST_REGIONS);
}
