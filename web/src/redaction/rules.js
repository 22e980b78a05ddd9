// The rules that terminal and page share: files that are the terminal's too, so that there is one of each.
import rules from '../../../device_client/split_client/redaction/data/rules.json' with { type: 'json' };

export const RULES = rules;

/** @type {Map<string, RegExp>} */
const made = new Map();

/**
 * A pattern of the rules, in which `{letter}` and `{upper}` stand for letters; the same object for the same text.
 * @param {string} source @param {string} [flags]
 */
export function pattern(source, flags = '') {
  const key = `${flags} ${source}`;
  let own = made.get(key);
  if (!own) {
    const whole = source.replaceAll('{letter}', rules.letter).replaceAll('{upper}', rules.upper);
    made.set(key, (own = new RegExp(whole, flags)));
  }
  own.lastIndex = 0;
  return own;
}
