// Forms that a reply can have, and the language of each.
import { FormEndless, FormImpossible, FormInvalid } from './errors.js';
import { bytesOfText, plainly } from './language/characters.js';
import { Expressions } from './language/expressions.js';
import { wholeMatch } from './language/regex.js';
import { oneOfTexts } from './language/texts.js';
import { isImpossible, settleRefs, shortest } from './language/shortest.js';
import { requireProgress } from './language/progress.js';
import { Compiler } from './schema/compiler.js';
import { readSchema } from './schema/document.js';
import { KEYWORDS } from './schema/keywords.js';

/** @typedef {import('../../types/gatelink').Form} Form */
/** @typedef {{expressions: Expressions, start: import('./language/expressions.js').Expression}} Language */

/**
 * @param {Form} form
 * @returns {Language} throws FormInvalid and its kinds
 */
export function languageOf(form) {
  const expressions = new Expressions();
  try {
    const start = expressionOf(expressions, form);
    requireProgress(start);
    if (isImpossible(expressions, start)) throw new FormImpossible();
    settleRefs(expressions, start);
    if (shortest(expressions, start) === Infinity) throw new FormEndless();
    return { expressions, start };
  } catch (error) {
    // A stack that is full: it is nested, or long, beyond what can be followed.
    if (error instanceof RangeError) throw new FormInvalid('it is too large', { code: 'form_too_costly' });
    throw error;
  }
}

/** @param {Expressions} expressions @param {Form} form */
function expressionOf(expressions, form) {
  switch (form.kind) {
    case 'json_schema': return new Compiler(expressions, readSchema(form.text)).value(JSON.parse(form.text), '#');
    case 'json_object': return new Compiler(expressions, {}).value({ type: 'object' }, '#');
    case 'choice': return choiceOf(expressions, form.texts);
    case 'regex':
      if (!form.text) throw new FormInvalid('it is empty');
      return wholeMatch(expressions, form.text, plainly(expressions));
    default: throw new FormInvalid('it is of an unknown kind');
  }
}

/** @param {Expressions} expressions @param {string[]} texts */
function choiceOf(expressions, texts) {
  if (!texts.length) throw new FormInvalid('there is nothing to choose from; give at least one text');
  if (texts.some((text) => !text)) throw new FormInvalid('a text to choose is empty');
  if (texts.length > KEYWORDS.most_choices) throw new FormInvalid(`more than ${KEYWORDS.most_choices} texts to choose from`);
  if (texts.join('').length > KEYWORDS.most_bytes) throw new FormInvalid(`more than ${KEYWORDS.most_bytes} characters`);
  return oneOfTexts(expressions, texts.map(bytesOfText));
}
