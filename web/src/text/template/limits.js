// Bounds of a chat template, in UTF-16 units.

export const MAX_TEMPLATE = 1 << 20;
export const MAX_OUTPUT = 4 << 20;
export const MAX_REASON = 300;
