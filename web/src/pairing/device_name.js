/** A first guess of what a person calls this device. */

/** @type {[RegExp, string][]} the first that matches counts */
const KINDS = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android.*Mobile/, 'Android phone'],
  [/Android/, 'Android tablet'],
  [/CrOS/, 'Chromebook'],
  [/Windows/, 'Windows PC'],
  [/Mac OS X|Macintosh/, 'Mac'],
  [/Linux|X11/, 'Linux PC'],
];

/**
 * @param {{userAgent: string, maxTouchPoints?: number}} navigator
 * @returns {string} short, in the letters that a server keeps
 */
export function guessName({ userAgent, maxTouchPoints = 0 }) {
  const name = KINDS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? 'Browser';
  // Safari of an iPad calls itself that of a Mac, and no Mac has a touch screen.
  return name === 'Mac' && maxTouchPoints > 1 ? 'iPad' : name;
}
