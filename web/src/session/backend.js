// What a sequence needs of whoever computes its steps, and what those bring.
import { INTERACTIVE_ROWS } from '../protocol/steps/returned.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./prefill.js').Plan} Plan */
/** @typedef {import('../protocol/attention.js').Wanted} Wanted */
/** @typedef {import('../protocol/attention.js').Told | import('../protocol/errors.js').AttentionInvalid} Attended */
/**
 * What a sequence needs of a backend: `RemoteBackend` is one.
 * @typedef {object} Backend
 * @property {(options: {signal?: AbortSignal, wanted?: Rows | null}) => Promise<number | null | void>} open how many of the
 *   steps that were broken off went through after all; null: there were none, or their session is lost
 * @property {number} maxRows
 * @property {number} maxContext
 * @property {number} [cached] positions held
 * @property {number} [unfinished] how many steps that were broken off `open` will first send again; without it such a
 *   step is taken for lost
 * @property {number} [interactiveRows] rows with which a step still is interactive; 16 without it
 * @property {boolean} [returnsRows] false: of a step's rows the states of the last or of all come back, and not of any
 *   number
 * @property {(start: number, embeddings: Float32Array, options: {adapter: string | null, attention?: Wanted,
 *   signal?: AbortSignal, rows?: number}) => Promise<StepOutput>} step
 * @property {(plans: Plan[], options: {adapter: string | null, signal?: AbortSignal,
 *   answered: (output: StepOutput) => void}) => Promise<void>} [prefill] several of them, in order;
 *   each is told once it is held
 * @property {(wanted: Rows, start: number, options: {signal?: AbortSignal}) => Promise<number>} [held] how many of
 *   those rows the open session holds, `start` of them for certain; a backend that kept more takes them in
 * @property {(positions: number, wanted: Wanted) => void} [attend] throws where no attention can be asked for
 * @property {boolean} [reachable] false: no answer can come at present
 * @property {() => Promise<void>} close
 */
/**
 * Rows of a conversation, made when they are asked for: [stop - start, H], to travel in `dtype`.
 * @typedef {{length: number, part: (start: number, stop: number, dtype: DType) => Promise<Float32Array>}} Rows
 */
/**
 * `hidden`: the final-norm states of the rows asked for, float32 [rows * H]. Times in microseconds;
 * `exchangeUs` is the whole wait for the server, compute and queue included. `attention`: what the last
 * row attends to, where it was asked for, or why that cannot be true; `inexact`: how many of the last positions stand
 * on rows that are not exact, where there are some.
 * @typedef {{hidden: Float32Array, computeUs: number, queueUs: number, exchangeUs: number,
 *   attention?: Attended | null, inexact?: number}} StepOutput
 */

/** @param {Backend} backend whose session is open */
export function limitsOf({ maxRows, returnsRows = true, interactiveRows = INTERACTIVE_ROWS }) {
  return { maxRows, returnsRows, interactiveRows };
}

/**
 * The steps of a backend that takes one at a time.
 * @param {Backend} backend @param {Plan[]} plans @param {Parameters<NonNullable<Backend['prefill']>>[1]} options
 */
export async function oneByOne(backend, plans, { adapter, signal, answered }) {
  for (const { start, rows, attention, embeddings } of plans) {
    answered(await backend.step(start, await embeddings(), { adapter, attention, signal, rows }));
  }
}

/** The seconds of all steps. @param {StepOutput[]} outputs */
export function timesOf(outputs) {
  const seconds = (/** @type {'exchangeUs' | 'computeUs' | 'queueUs'} */ part) =>
    outputs.reduce((sum, output) => sum + output[part] / 1e6, 0);
  const [exchange, compute, queue] = [seconds('exchangeUs'), seconds('computeUs'), seconds('queueUs')];
  return { exchange, compute, queue, wire: Math.max(0, exchange - compute - queue) };
}
