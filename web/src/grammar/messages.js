// Messages to the worker of forms and back.

/** @typedef {import('../../types/gatelink').Form} Form */
/**
 * About the reply that was begun last.
 * @typedef {{id: number} & ({type: 'allowed' | 'forced', remaining: number} | {type: 'accept', token: number}
 *   | {type: 'permitted', tokens: readonly number[], remaining: number})} Question
 */
/**
 * Each is answered by one Answer with its id; encoded answers the worker.
 * @typedef {Question | {id: number, type: 'check' | 'begin', form: Form}
 *   | {id: number, type: 'vocabulary', bytes: Uint8Array, offsets: Uint32Array, eos: number[], strips: boolean}
 *   | {type: 'encoded', ids: number[] | null}} Request
 */
/**
 * encode: asks how the model's tokenizer writes a text.
 * @typedef {{id: number, result: any} | {id: number, error: {code: string, message: string, retryable: boolean}}
 *   | {encode: string}} Answer
 */

export {};
