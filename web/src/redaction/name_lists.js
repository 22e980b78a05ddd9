// Lists of names that are public, as the terminal has them.
import names from '../../../device_client/split_client/redaction/data/names.json' with { type: 'json' };

/** First names, with the sex that they suggest (f, m, n). @type {ReadonlyMap<string, string>} */
export const GIVEN = new Map(
  ['f', 'm', 'n'].flatMap((sex) => /** @type {Record<string, string>} */ (names.given)[sex].split(' ').map((name) => [name, sex])),
);
/** @type {ReadonlySet<string>} */
export const FAMILY = new Set(names.family.split(' '));
/** Those that are other words as well. @type {ReadonlySet<string>} */
export const COMMON = new Set(names.common.split(' '));
