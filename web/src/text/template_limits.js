// Bounds of a chat template, in UTF-16 units and items.

export const MAX_TEMPLATE = 1 << 20;
export const MAX_OUTPUT = 4 << 20;
export const MAX_REASON = 300;
/** As in Jinja's sandbox. */
export const MAX_RANGE = 100_000;
/** Items of one list that a template makes. */
export const MAX_ITEMS = 1_000_000;
/** Nested expressions and calls are bounded by the stack; this bounds what is parsed. */
export const MAX_STATEMENTS = 100_000;
