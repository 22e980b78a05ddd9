// Renders a chat template within bounds; runs in the template worker.
import { Environment, Interpreter, parse, tokenize } from '@huggingface/jinja';
import { MAX_OUTPUT, MAX_REASON } from './template_limits.js';

/** A text that outgrew its bound. */
class TooCostly extends Error {}

export class Template {
  /** @param {string} source */
  constructor(source) {
    this.program = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
  }

  /** @param {Record<string, unknown>} variables @returns {string} */
  render(variables) {
    const environment = new Environment();
    for (const [name, value] of Object.entries({ ...GLOBALS, ...variables })) environment.set(name, value);
    const text = String(new Interpreter(environment).run(this.program).value);
    if (text.length > MAX_OUTPUT) throw new TooCostly(`its text is longer than ${MAX_OUTPUT} characters`);
    return text;
  }
}

const GLOBALS = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception(/** @type {unknown} */ message) {
    throw new Error(String(message));
  },
};

/**
 * What the worker answers.
 * @param {() => string} render
 * @returns {import('./template.js').Answer}
 */
export function answerTo(render) {
  try {
    return { text: render() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Of RangeErrors there are two: the stack's and the longest string's.
    if (error instanceof TooCostly || error instanceof RangeError) return { too_costly: reason.slice(0, MAX_REASON) };
    return { failed: reason.slice(0, MAX_REASON) };
  }
}
