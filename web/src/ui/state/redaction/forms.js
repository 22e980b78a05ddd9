// The texts of a form, which the model is led to write; names of fields stay, as in the terminal.

/** @typedef {import('../../../../types/gatelink').Form} Form */

// Keywords of JSON Schema whose texts are told to a model, or may be written by it.
const TEXTS = new Set(['title', 'description', 'default', 'const', 'enum', 'examples', 'pattern', '$comment']);
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** @param {Form | null} form @returns {string[]} */
export function textsOf(form) {
  /** @type {string[]} */
  const found = [];
  changed(form, (text) => (found.push(text), text));
  return found;
}

/** The form with others in their places, in order. @param {Form | null} form @param {readonly string[]} texts @returns {Form | null} */
export function withTexts(form, texts) {
  let at = 0;
  return changed(form, () => texts[at++]);
}

/** @param {Form | null} form @param {(text: string) => string} change @returns {Form | null} */
function changed(form, change) {
  switch (form?.kind) {
    case 'choice': return { ...form, texts: form.texts.map(change) };
    case 'regex': return { ...form, text: change(form.text) };
    case 'json_schema': return { ...form, text: schemaText(form.text, change) };
    default: return form;
  }
}

/** @param {string} text @param {(text: string) => string} change */
function schemaText(text, change) {
  let [schema, same] = [/** @type {unknown} */ (undefined), true];
  try {
    schema = JSON.parse(text);
  } catch {
    // It is refused, and nothing of it is sent.
    return text;
  }
  const made = inSchema(schema, (own) => {
    const other = change(own);
    same &&= other === own;
    return other;
  });
  // Numbers are as they were written.
  return same ? text : JSON.stringify(made);
}

/** @param {any} schema @param {(text: string) => string} change @returns {unknown} */
function inSchema(schema, change) {
  if (Array.isArray(schema)) return schema.map((each) => inSchema(each, change));
  if (typeof schema !== 'object' || schema === null) return schema;
  return mapped(schema, (name, value) => {
    const own = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (BY_NAME.has(name) && own) return mapped(value, (_, each) => inSchema(each, change));
    return TEXTS.has(name) ? everyText(value, change) : inSchema(value, change);
  });
}

/** @param {any} value @param {(text: string) => string} change @returns {unknown} */
function everyText(value, change) {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => everyText(each, change));
  return typeof value === 'object' && value !== null ? mapped(value, (_, each) => everyText(each, change)) : value;
}

/** @param {object} record @param {(name: string, value: any) => unknown} change */
function mapped(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(name, value)]));
}
