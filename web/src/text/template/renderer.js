// Renders a chat template within bounds; runs in the template worker.
import { parse, tokenize } from '@huggingface/jinja';
import { TooCostly } from '../jinja/errors.js';
import { globals } from '../jinja/globals.js';
import { Scope } from '../jinja/scope.js';
import { render } from '../jinja/statements.js';
import { fromJson } from '../jinja/values.js';
import { MAX_OUTPUT, MAX_REASON } from './limits.js';

// It marks what an assistant says for training; here it is its content. As a block of its own it keeps
// the white space on both sides apart.
const GENERATION = /\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}/g;

/** A program in Jinja, read by @huggingface/jinja's parser and run with Python's meaning. */
export class Template {
  /** @param {string} source */
  constructor(source) {
    const lines = source.replace(/\r\n?/g, '\n').replace(GENERATION, (_, open, end, close) => {
      return `{%${open} ${end ? 'endif' : 'if true'} ${close}%}`;
    });
    this.program = parse(tokenize(lines, { lstrip_blocks: true, trim_blocks: true }));
  }

  /**
   * @param {Record<string, unknown>} variables what JSON can hold
   * @param {() => Date} [now]
   * @returns {string}
   */
  render(variables, now = () => new Date()) {
    const names = globals(now);
    for (const [name, value] of Object.entries(variables)) names.set(name, fromJson(value));
    return render(this.program.body, new Scope(new Scope(null, names)), MAX_OUTPUT);
  }
}

/**
 * What the worker answers.
 * @param {() => string} work
 * @returns {import('./template.js').Answer}
 */
export function answerTo(work) {
  try {
    return { text: work() };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
    // A RangeError is a stack or a text that outgrew the interpreter's own bounds.
    return error instanceof TooCostly || error instanceof RangeError
      ? { too_costly: reason }
      : { failed: reason };
  }
}
