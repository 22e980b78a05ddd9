// A model's chat template.
//
// A template is a program that came with the weights. Nothing inside an interpreter can stop a loop
// over loops, so it runs in a worker of its own, which is killed when its time is up.
import { TemplateFailed, TemplateTooCostly } from '../errors.js';
import { MAX_OUTPUT, MAX_TEMPLATE } from './limits.js';

/** @typedef {Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>} TemplateWorker */
/** @typedef {{text: string} | {failed: string} | {too_costly: string}} Answer */

const MAX_SECONDS = 10;

/** Renders messages to the text of a prompt; close it to end its worker. */
export class ChatTemplate {
  /**
   * @param {string} source Jinja
   * @param {Record<string, unknown>} [variables] what it may use beside the messages, such as `bos_token`
   * @param {{spawn?: () => TemplateWorker, seconds?: number}} [options] seconds: for one text
   * @throws {TemplateTooCostly}
   */
  constructor(source, variables = {}, { spawn = spawnWorker, seconds = MAX_SECONDS } = {}) {
    if (source.length > MAX_TEMPLATE)
      throw new TemplateTooCostly(`it is longer than ${MAX_TEMPLATE} characters`);
    this.source = source;
    this.variables = variables;
    this.spawn = spawn;
    this.seconds = seconds;
    /** @type {TemplateWorker | null} */
    this.worker = null;
    /** @type {((reason: string) => void) | null} */
    this.abort = null;
    /** @type {Promise<unknown>} */
    this.last = Promise.resolve();
  }

  /**
   * The prompt's text.
   * @param {object[]} messages what JSON can hold
   * @param {{tools?: object[] | null, addGenerationPrompt?: boolean}} [options]
   * @returns {Promise<string>}
   * @throws {TemplateFailed | TemplateTooCostly}
   */
  render(messages, { tools = null, addGenerationPrompt = true } = {}) {
    const request = {
      ...this.variables,
      messages,
      tools,
      documents: null,
      add_generation_prompt: addGenerationPrompt,
    };
    // As JSON, so that a template sees plain values alone. One text at a time: its time is its own.
    const asked = this.last.then(() => this.ask(JSON.stringify(request)));
    this.last = asked.catch(() => {});
    return asked;
  }

  /** Ends the worker; the next text starts another. */
  close() {
    this.abort?.('it was closed');
    this.end();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    this.abort = null;
  }

  /** @param {string} variables JSON @returns {Promise<string>} */
  async ask(variables) {
    /** @type {Answer} */
    let answer;
    try {
      answer = await this.answerTo(variables);
    } catch (error) {
      this.end();
      throw error;
    }
    if ('text' in answer) return answer.text;
    this.end();
    if ('failed' in answer) throw new TemplateFailed(answer.failed);
    throw new TemplateTooCostly(answer.too_costly);
  }

  /** @param {string} variables @returns {Promise<Answer>} */
  answerTo(variables) {
    const started = this.worker === null;
    const worker = (this.worker ??= this.spawn());
    return new Promise((resolve, reject) => {
      const refuse = (/** @type {string} */ reason) => reject(new TemplateTooCostly(reason));
      const timer = setTimeout(() => refuse(`it took longer than ${this.seconds} s`), this.seconds * 1000);
      const settle = (/** @type {() => void} */ then) => {
        clearTimeout(timer);
        then();
      };
      this.abort = (reason) => settle(() => refuse(reason));
      worker.onerror = () => settle(() => refuse('its worker ended by itself'));
      worker.onmessage = (event) => settle(() => resolve(checked(event.data)));
      worker.postMessage({ source: started ? this.source : null, variables });
    });
  }
}

/** @param {unknown} data @returns {Answer} */
function checked(data) {
  const [[kind, text]] = Object.entries(/** @type {object} */ (data));
  if (typeof text !== 'string' || text.length > MAX_OUTPUT) return { too_costly: 'its answer is no text' };
  if (kind === 'text') return { text };
  return kind === 'failed' ? { failed: text } : { too_costly: text };
}

/** @returns {TemplateWorker} */
function spawnWorker() {
  return new Worker(new URL('./template.js', import.meta.url), { type: 'module' });
}
