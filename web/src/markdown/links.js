/** Targets of links that are followed at all. */

const LONGEST = 2000;
// White space and control characters hide a scheme from a glance ('java\tscript:').
const HIDDEN = /[\s\p{Cc}\p{Cf}]/u;

/**
 * The target of a link, null where it is none that may be opened: only http, https and mailto, and
 * always whole, so that nothing leads into this page's own origin by accident.
 * @param {string} target
 * @returns {string|null}
 */
export function safeTarget(target) {
  if (target.length > LONGEST || HIDDEN.test(target)) return null;
  if (!/^(?:https?:\/\/[^/]|mailto:[^/])/i.test(target)) return null;
  try {
    const url = new URL(target);
    const followed = ['http:', 'https:', 'mailto:'].includes(url.protocol) && !url.username && !url.password;
    return followed ? url.href : null;
  } catch {
    return null;
  }
}
