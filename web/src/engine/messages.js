// Messages between a page and the engine worker, all of them structured-cloneable.

/**
 * A call of the page; answered by one Answer with its id, for some methods after Events with it.
 * @typedef {{id: number, method: string, params: any}} Call
 */

/** @typedef {{id: number, result: any}} Result */
/** @typedef {{id: number, error: {code: string, message: string, retryable: boolean}}} Failure */
/** @typedef {Result | Failure} Answer */

/**
 * Something on the way of a call (a token, progress), or for the whole page (id 0: a notice).
 * @typedef {{id: number, event: any}} Event
 */

/** @typedef {import('../../types/gatelink.d.ts').Message} Message */
/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

/**
 * @typedef {object} Connected
 * @property {{digest: string, name: string, family: string, licence: string | null, maxContext: number,
 *   generation: Record<string, number>, size: number, hasTemplate: boolean, layers: number}} manifest
 * @property {boolean} stored whether all of the model's ends are here
 * @property {number} comes bytes that travel until all is here
 * @property {number} doneBytes how many of those have
 * @property {'opfs' | 'indexeddb' | 'memory'} storage
 * @property {number | null} freeBytes
 * @property {AdapterInfo[]} adapters
 * @property {string[]} hosts origins of hosts that compute adapters on ciphertexts
 */

/** @typedef {Partial<import('../noise/settings.js').NoiseSettings>} NoiseWish */
/** @typedef {import('../chats/types').Kept} Kept */
/** @typedef {import('../chats/types').Range} Range */

/**
 * How full the context of a chat is: tokens of the text of each message that travels (0 for one that does not) and of all
 * that is sent, the template's included. `again`: how many of those the next message sends again; `limit`: how many there
 * may be. `exact`: they are counted; a chat that nothing could hold has about as many.
 * @typedef {{messages: number[], total: number, again: number, limit: number, exact: boolean}} Fill
 */

/**
 * What would be dropped: ranges of messages by their number, `units` of them, so that `tokens` are left of `before`, of
 * which `sent` are sent again. `target`: how many were to be left of the `limit`.
 * @typedef {{dropped: [number, Range[]][], units: number, before: number, tokens: number, sent: number,
 *   limit: number, target: number}} Proposal
 */

/**
 * What the context of a chat may hold, in tokens (null: all of the model's), and whether room for the reply counts.
 * @typedef {{budget: number | null, reserve: boolean}} ContextWish
 */

/**
 * @typedef {object} ReplyRequest
 * @property {string} chat names a session of its own on the server
 * @property {Message[]} messages
 * @property {Record<string, any>} params sampling, snake_case; what is missing is the model's own
 * @property {number} maxTokens
 * @property {string[]} stop
 * @property {string | null} adapter a name, 'auto' or null; of a host's adapter see adapters/place.js
 * @property {string | null} [adapterToken] for that host
 * @property {'chat' | 'plain'} [mode] plain: the last message is continued without a template
 * @property {boolean} [attention] whether to keep what each token attends to
 * @property {Uint16Array[]} [brightness] of each of the messages, by UTF-16 unit: what was gathered before
 * @property {'auto' | 'off'} [drafts] auto, as without it: the server is sent a guess at what follows along with a token, where that
 *   saves time; a chat with noise has none
 * @property {string} [expected] what the reply may be, but for differences: the guesses go by it first
 * @property {'chat' | 'server'} [draftMemory] what the guesses go by besides the chat itself; chat: its other replies;
 *   server: also those of other chats with this server that were made so
 * @property {'exact' | 'int8' | 'off'} [cache] off: the server keeps nothing of the chat once its session has ended
 * @property {import('../../types/gatelink.d.ts').Form | null} [form] what the reply has to be; null: it is free
 * @property {ContextWish} [context] what the prompt may have; without one, all that the model takes
 * @property {NoiseWish | null} [noise] null: rows are sent as they are
 * @property {string} [answer] the name under which its tokens are kept, with the states that they were chosen from
 * @property {Begun | null} [begun] what is there of the reply; null: nothing
 */

/**
 * A reply that is gone on from: `answer` is its name, null where it has none; `text` what the chat has of it, `sent` what
 * the model wrote of it where redaction has made that text. With
 * `token` it goes on from its token `at`, in whose place `token` stands; else from its end.
 * @typedef {{answer: string | null, text: string, sent?: string, at?: number, token?: number}} Begun
 */

/** A token, the text of it as it follows what is before, and its log-probability in nats. @typedef {[number, string, number]} Alternative */
/**
 * A token of a reply. `control`: it is no part of the text, and `text` is its name. `logprob` in nats under the model
 * alone, before anything that the sampler does; null where the state is not kept.
 * @typedef {{id: number, text: string, control: boolean, logprob: number | null}} ReplyToken
 */
/**
 * So many of a reply's tokens, from the one that was asked for on.
 * @typedef {{tokens: ReplyToken[], count: number}} ReplyTokens count: of the whole reply
 */

/**
 * Seconds.
 * @typedef {{total: number, engine: number, queue: number, wire: number, device: number}} Timing
 */

/**
 * `token` -1: no token of its own, the text that was still held back. `rows` were sent to get it, `drafted` of them as
 * a guess at what follows; `forced`: the reply's form left no choice; `begun`: no token either, `text` is what is there
 * of the reply that goes on; `sent`: what the model wrote where `text` is what redaction has made of it.
 * @typedef {{token: number, text: string, probability: number, rows: number, drafted: number, forced: boolean,
 *   timing: Timing, index: number, begun?: boolean, sent?: string}} Token
 */

/**
 * @typedef {object} Finished
 * @property {'eos' | 'stop' | 'length' | 'context' | 'cancelled'} reason
 * @property {string} text the whole reply
 * @property {string} [sent] as the model wrote it, where the text is what a chat's redaction made of it
 * @property {number} tokens that are new
 * @property {number} promptTokens what is begun of a reply that goes on is among them
 * @property {number} promptSent tokens of the prompt that travelled; the others were cached
 * @property {number} promptRestored of those that were cached, the ones that the server had kept of other sessions
 * @property {number} [promptApproximate] of those that were cached, the ones that are not exact, where there are some
 * @property {string} seed decimal
 * @property {string | null} adapter as it was asked for, and which one where that was 'auto'
 * @property {number} roundTrips steps that the reply took
 * @property {number} rowsSent by those steps, the prompt's and the drafts' included
 * @property {number} drafted tokens that were guessed
 * @property {number} accepted of those, the ones that saved a step
 * @property {number} forced tokens that the reply's form left no choice for
 * @property {number} ttft seconds
 * @property {number} tokensPerSecond after the first token; 0 where no step followed the prompt's
 */

/**
 * Text of the tokens `start` to `stop` (exclusive) of a prompt and its reply. `template`: what stands
 * between the messages; `control`: a control token, as its tokenizer writes it. Of a message's own text `message` is
 * its number among those that were sent (the reply's is the next one), and `at` where in it the text begins.
 * @typedef {{text: string, start: number, stop: number,
 *   kind: 'system' | 'user' | 'assistant' | 'template' | 'control', message?: number, at?: number}} Span
 */

/**
 * The tokens of a whole chat that wrote a part of a message, in order: the tokens `start` to `stop` (exclusive) wrote
 * `length` UTF-16 units of message number `message`, from `at` on.
 * @typedef {{positions: number, start: Int32Array, stop: Int32Array, message: Int32Array, at: Int32Array,
 *   length: Int32Array}} ChatTokens
 */

/**
 * What the heads of all layers looked at to choose one token: `weights` [layers * heads, position], layer after layer;
 * `sent`: rows that travelled for it.
 * @typedef {{layers: number, heads: number, weights: Float32Array, sent: number}} Heads
 */

/**
 * Which chat it is about, as it is shown: the last message may be a reply.
 * @typedef {{chat: string, messages: Message[], mode?: 'chat' | 'plain'}} Shown
 */

/**
 * Which token of it; `noised`: the chat has noise, or had it; `cache`: what the server may keep.
 * @typedef {Shown & {position: number, noised: boolean, cache?: 'exact' | 'int8' | 'off'}} HeadsWish
 */

/**
 * The text of the latest reply and of its prompt, and of which of its tokens the attention is kept.
 * @typedef {object} Attended
 * @property {number} promptTokens
 * @property {number} tokens of the reply
 * @property {number} first the oldest of them whose row is kept; those before it had no room
 * @property {number} end behind the last one that has a row
 * @property {Span[]} spans
 * @property {boolean} more whether further spans follow these
 */

/**
 * @typedef {object} Stats
 * @property {number} bytesUp
 * @property {number} bytesDown
 * @property {number} exchanges
 * @property {string | null} transport
 * @property {number} reconnects
 * @property {number} cachedTokens
 * @property {string | null} dtype
 * @property {string | null} kernel of the LM head; null: it is not open
 * @property {{sent: number, received: number}} hosts bytes of bodies to and from adapter hosts
 */

/**
 * @typedef {{type: 'reconnecting', reason: string, attempt: number, delay: number}
 *   | {type: 'reconnected'} | {type: 'resent'}
 *   | {type: 'waiting', code: string, delay: number} | {type: 'waited'}
 *   | {type: 'tokenizing', busy: boolean}
 *   | {type: 'no_attention', code: string}
 *   | {type: 'calibrating', done: number}} Notice
 *   no_attention: a reply goes on without attention; calibrating: how much of a table was looked at for noise,
 *   0..1; tokenizing: a text is being tokenized, which the page's side watches
 */

export {};
