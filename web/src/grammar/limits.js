// Bounds of forms. They are the user's own, but may have been pasted from anywhere.

export const MAX_PATTERN = 16 * 1024;
/** Groups of a regex, one within another. */
export const MAX_GROUPS = 64;
/** Of a repeat in a regex, and of lengths and counts in a schema. */
export const MAX_COUNT = 100_000;
/** At one place of a text. */
export const MAX_ALTERNATIVES = 2000;
/** Of one intersection or complement. */
export const MAX_STATES = 20_000;
/** Parts of a form that are named, as the definitions of a schema are. */
export const MAX_REFS = 5000;
/** Milliseconds that building a form may take, and one question about a reply. */
export const COMPILE_MILLISECONDS = 10_000;
export const STEP_MILLISECONDS = 10_000;
