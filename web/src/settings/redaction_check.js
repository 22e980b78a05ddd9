/** Whether a choice of what is redacted is one: what lies on the disk or in a file may be anything. */

/** @typedef {import('../../types/gatelink').RedactionChoice} RedactionChoice */

export const MOST_NAMES = 5000;
export const LONGEST_NAME = 200;
const MOST_REGIONS = 16;
export const GROUPS = ['names', 'emails', 'ibans', 'cards', 'ids', 'phones', 'addresses', 'dates'];

/** @param {unknown} value @returns {value is RedactionChoice} */
export function isRedaction(value) {
  const { on, groups, names, regions } = /** @type {Partial<RedactionChoice>} */ (Object(value));
  return (
    typeof on === 'boolean' &&
    isList(groups, GROUPS.length, (group) => GROUPS.includes(group)) &&
    isList(names, MOST_NAMES, (name) => name.length <= LONGEST_NAME) &&
    isList(regions, MOST_REGIONS, (region) => /^[A-Z]{2}$/.test(region))
  );
}

/** @param {unknown} value @param {number} most @param {(text: string) => boolean} fits */
function isList(value, most, fits) {
  return Array.isArray(value) && value.length <= most && value.every((each) => typeof each === 'string' && fits(each));
}
