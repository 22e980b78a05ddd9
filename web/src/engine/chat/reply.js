import { choose } from '../../adapters/choice.js';
import { decode } from '../../generation/loop.js';
import { paramsFrom } from '../../generation/params.js';
import { Sampler } from '../../generation/sampler.js';
import { PromptTooLong } from '../../session/errors.js';
import { Detokenizer } from '../../text/tokenizer/detokenizer.js';
import { UnknownAdapter } from '../errors.js';

/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../messages.js').Finished} Finished */
/** @typedef {import('../messages.js').Token} Token */
/** @typedef {import('../../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

/**
 * Makes one reply.
 * @param {import('./session.js').ChatSession} chat
 * @param {import('../models/model.js').OpenModel} model
 * @param {AdapterInfo[]} adapters
 * @param {ReplyRequest} request
 * @param {(token: Token) => void} onToken
 * @param {AbortSignal} signal ends it after its next token, and any wait for the server
 * @param {import('../attention/latest.js').LatestAttention} attention keeps what it looks at
 * @returns {Promise<Finished>}
 */
export async function makeReply(chat, model, adapters, request, onToken, signal, attention) {
  const { messages, mode = 'chat', maxTokens, stop } = request;
  const params = paramsFrom(request.params, chat.noised?.mode.generation ?? model.manifest.generation);
  chat.noised?.mode.require(params, request.adapter);
  const prompt = await chat.prompt(messages, mode);
  if (prompt.length > model.manifest.maxContext) throw new PromptTooLong(prompt.length, model.manifest.maxContext);
  const adapter = adapterFor(request.adapter, messages.at(-1)?.content ?? '', adapters);
  const sampler = new Sampler(model.ends.head, params);
  const limits = { eosTokenIds: new Set(model.manifest.eosTokenIds), maxTokens, stops: stop };
  chat.sequence.adapter = adapter;
  const attended = await attention.begin(request, model, chat.sequence, prompt);
  const { counters } = chat.sequence;
  const before = counters.rowsRestored;
  const tally = new Tally((token) => {
    attended.push(token.token);
    onToken(token);
  }, () => counters.rowsRestored - before);
  const detokenizer = new Detokenizer(model.tokenizer);
  try {
    const events = decode(attended.sequence, sampler, detokenizer, prompt, limits, { signal });
    for await (const event of events) tally.take(event);
  } finally {
    attended.end();
    await chat.settle();
  }
  if (mode === 'chat') chat.remember(prompt, tally.text, tally.ids);
  return tally.finished(prompt.length, sampler.seed, adapter);
}

/**
 * @param {string | null} wanted a name, 'auto' or null
 * @param {string} text that 'auto' goes by
 * @param {AdapterInfo[]} adapters
 */
function adapterFor(wanted, text, adapters) {
  if (wanted === null) return null;
  if (wanted === 'auto') return choose(text, adapters)?.name ?? null;
  const names = adapters.map((adapter) => adapter.name);
  if (!names.includes(wanted)) throw new UnknownAdapter(wanted, names);
  return wanted;
}

/** Counts what a reply gave and cost. */
class Tally {
  /** @param {(token: Token) => void} onToken @param {() => number} restored rows so far */
  constructor(onToken, restored) {
    this._onToken = onToken;
    this._rowsRestored = restored;
    this.text = '';
    /** @type {number[]} */
    this.ids = [];
    /** @type {Finished['reason']} */
    this._reason = 'cancelled';
    this._ttft = 0;
    this._later = 0;
    this._sent = 0;
    this._restored = 0;
  }

  /** @param {any} event of the decode loop */
  take(event) {
    this.text += event.text;
    if (event.type === 'finished') {
      this._reason = event.reason;
      if (event.text) this._onToken({ ...NO_TOKEN, text: event.text, index: this.ids.length });
      return;
    }
    const { token, text, probability, rows, timing } = event;
    if (this.ids.length === 0) [this._ttft, this._sent, this._restored] = [timing.total, rows, this._rowsRestored()];
    else this._later += timing.total;
    this._onToken({ token, text, probability, rows, timing, index: this.ids.length });
    this.ids.push(token);
  }

  /** @param {number} promptTokens @param {bigint} seed @param {string | null} adapter @returns {Finished} */
  finished(promptTokens, seed, adapter) {
    const tokens = this.ids.length;
    return {
      reason: this._reason,
      text: this.text,
      tokens,
      promptTokens,
      promptSent: this._sent,
      promptRestored: this._restored,
      seed: seed.toString(),
      adapter,
      ttft: this._ttft,
      tokensPerSecond: this._later > 0 ? (tokens - 1) / this._later : 0,
    };
  }
}

const NO_TOKEN = {
  token: -1,
  probability: 1,
  rows: 0,
  timing: { total: 0, engine: 0, queue: 0, wire: 0, device: 0 },
};
