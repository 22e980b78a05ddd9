import { choose } from '../../adapters/choice.js';
import { placeOf } from '../../adapters/place.js';
import { decode } from '../../generation/loop.js';
import { paramsFrom } from '../../generation/params.js';
import { Sampler } from '../../generation/sampler.js';
import { PromptTooLong } from '../../session/errors.js';
import { Detokenizer } from '../../text/tokenizer/detokenizer.js';
import { requireRoom } from '../context/room.js';
import { UnknownAdapter } from '../errors.js';
import { beginningOf, begunOf, tell } from '../steering/beginning.js';
import { Tally, begunToken } from './tally.js';

/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../messages.js').Finished} Finished */
/** @typedef {import('../messages.js').Token} Token */
/** @typedef {import('../../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */
/** @typedef {import('../../generation/speculation/lookahead.js').Lookahead} Lookahead */
/**
 * What replies share. `attention` keeps what the latest looks at, `answers` the tokens of the newest; `hosts` compute
 * adapters on ciphertexts.
 * @typedef {{attention: import('../attention/latest.js').LatestAttention,
 *   drafting: import('./drafting.js').Drafting, answers: import('../steering/answers.js').Answers,
 *   hosts: import('../adapters/hosts.js').AdapterHosts}} Shared
 */

/**
 * Makes one reply.
 * @param {import('./session.js').ChatSession} chat
 * @param {import('../models/model.js').OpenModel} model
 * @param {AdapterInfo[]} adapters
 * @param {ReplyRequest} request
 * @param {(token: Token) => void} onToken
 * @param {AbortSignal} signal ends it after its next token, and any wait for the server
 * @param {Shared} shared
 * @returns {Promise<Finished>}
 */
export async function makeReply(chat, model, adapters, request, onToken, signal, { attention, drafting, answers, hosts }) {
  const { messages, mode = 'chat', maxTokens, stop } = request;
  const params = paramsFrom(request.params, chat.noised?.mode.generation ?? model.manifest.generation);
  chat.noised?.mode.require(params, request.adapter);
  const { prompt, kept, after } = await beginningOf(chat, model, answers, request);
  const begun = begunOf(model, kept);
  const start = [...prompt, ...begun.ids];
  requireRoom(start.length, chat.limit, request);
  if (start.length > model.manifest.maxContext) throw new PromptTooLong(start.length, model.manifest.maxContext);
  const asked = messages.at(-1)?.content ?? '';
  const adapter = adapterFor(request.adapter, asked, adapters);
  const sampler = new Sampler(model.ends.head, params);
  const limits = { eosTokenIds: new Set(model.manifest.eosTokenIds), maxTokens, stops: stop };
  const constraint = await model.forms.constraint(request.form);
  await tell(constraint, begun.ids);
  const about = { token: request.adapterToken ?? null, hiddenSize: model.manifest.hiddenSize };
  const hosted = await hosts.begin(request.adapter, asked, about, signal);
  chat.sequence.adapter = adapter;
  const ahead = drafting.sequence(chat, request, (text) => chat.following(prompt, text), after);
  const attended = await attention.begin(request, model, chat.sequence, start, begun.text);
  const log = answers.begin(request, prompt, kept);
  const tally = new Tally((token) => {
    attended.push(token.token);
    onToken(token);
  }, chat.sequence.counters, begun);
  if (begun.text) onToken(begunToken(begun.text));
  const detokenizer = new Detokenizer(model.tokenizer);
  try {
    // Attention is told of the last row of a step: each token has its own.
    const sequence = attended.sequence === chat.sequence ? ahead : attended.sequence;
    const adapted = hosted?.correcting(sequence) ?? sequence;
    const events = decode(adapted, sampler, detokenizer, prompt, limits, { begun: begun.ids, signal, constraint });
    for await (const event of events) {
      if (event.type === 'token') log.take(event.token, event.hidden);
      tally.take(event);
    }
  } finally {
    hosted?.end();
    attended.end();
    ahead.ended(prompt, tally.ids);
    await chat.settle();
  }
  if (mode === 'chat') chat.remember(prompt, tally.text, tally.ids);
  return { ...tally.finished(start.length, sampler.seed, hosted?.name ?? adapter), ...ahead.figures };
}

/**
 * The one that the server applies.
 * @param {string | null} wanted a name, 'auto', null, or one of a host
 * @param {string} text that 'auto' goes by
 * @param {AdapterInfo[]} adapters
 */
function adapterFor(wanted, text, adapters) {
  if (wanted === null || placeOf(wanted).host !== null) return null;
  if (wanted === 'auto') return choose(text, adapters)?.name ?? null;
  const names = adapters.map((adapter) => adapter.name);
  if (!names.includes(wanted)) throw new UnknownAdapter(wanted, names);
  return wanted;
}
