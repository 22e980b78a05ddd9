// Names of a person's own: each is somebody, as "Anna Schmidt".
import { wordsIn } from './finding/words.js';
import { folded } from './folding.js';
import { RULES } from './rules.js';

const NONE = new Set([...RULES.particles, ...RULES.titles]);

/**
 * The words of a person's name by key: the last one is a surname, those before are first names; one that stands alone is a
 * first name. None where it has no word of two Latin letters.
 * @param {string} name @returns {Map<string, 'given' | 'family'>}
 */
export function ownWords(name) {
  const { text, lower } = folded(name);
  const keys = wordsIn(text, lower).map(({ key }) => key).filter((key) => key.length > 1 && !NONE.has(key));
  /** @type {Map<string, 'given' | 'family'>} */
  const made = new Map(keys.map((key) => [key, 'given']));
  if (keys.length > 1) made.set(keys[keys.length - 1], 'family');
  return made;
}
