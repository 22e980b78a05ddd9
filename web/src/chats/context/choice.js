/** What happens when the context of a chat is full, as a person chooses and keeps it. */

/** @typedef {import('../types').ContextChoice} ContextChoice */

/** ask: the oldest units are proposed; oldest: they go; dimmest: those that replies looked at least; pinned: everything goes that is not pinned. */
export const POLICIES = /** @type {const} */ (['ask', 'oldest', 'dimmest', 'pinned']);
export const LEAST_BUDGET = 64;
export const MOST_BUDGET = 2 ** 31;
/** @type {Readonly<ContextChoice>} */
export const ASK = Object.freeze({ policy: 'ask', budget: null });

/** A copy of its own fields; null where it is none. @param {unknown} value @returns {ContextChoice | null} */
export function choiceIn(value) {
  const { policy, budget = null } = /** @type {Partial<ContextChoice>} */ (Object(value));
  const known = POLICIES.find((each) => each === policy);
  return known && (budget === null || isBudget(budget)) ? { policy: known, budget } : null;
}

/** @param {unknown} tokens @returns {tokens is number} */
export function isBudget(tokens) {
  return Number.isInteger(tokens) && Number(tokens) >= LEAST_BUDGET && Number(tokens) <= MOST_BUDGET;
}
