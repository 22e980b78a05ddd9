/** What the replies of a chat have to be, as a person chooses and keeps it. */

/** @typedef {import('../../types/gatelink').FormChoice} FormChoice */
/** @typedef {import('../../types/gatelink').Form} Form */

const KINDS = ['json_object', 'json_schema', 'choice', 'regex'];
const LONGEST = 256 * 1024;

/** Whether the texts of this kind are JSON. @param {unknown} kind */
export function isJson(kind) {
  return kind === 'json_object' || kind === 'json_schema';
}

/** A copy of its own fields; null where it is none. @param {unknown} value @returns {FormChoice | null} */
export function formIn(value) {
  const { kind, text } = /** @type {Partial<FormChoice>} */ (Object(value));
  const fits = KINDS.includes(String(kind)) && typeof text === 'string' && text.length <= LONGEST;
  return fits ? { kind: /** @type {FormChoice['kind']} */ (kind), text } : null;
}

/**
 * What of a choice goes to the engine.
 * @param {FormChoice | null | undefined} choice
 * @returns {Form | null} null: replies are free
 */
export function formWish(choice) {
  switch (choice?.kind) {
    case 'json_object': return { kind: 'json_object' };
    case 'choice': return { kind: 'choice', texts: textsIn(choice.text) };
    case 'json_schema': case 'regex': return { kind: choice.kind, text: choice.text };
    default: return null;
  }
}

/** One a line; white space around it is not meant. @param {string} lines */
function textsIn(lines) {
  return [...new Set(lines.split('\n').map((line) => line.trim()).filter(Boolean))];
}
