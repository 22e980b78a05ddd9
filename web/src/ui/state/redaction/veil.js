// The engine of one chat, behind which values of the chat are surrogates.
import { saidWith } from '../../../chats/said.js';
import { AMENDED } from '../../../chats/tree.js';
import { isJson } from '../../../settings/form.js';
import { textsOf, withTexts } from './forms.js';
import { keptAs, rangesAs, sentAs } from './kept_parts.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').Kept} Kept */
/** @typedef {import('../../../chats/types').Range} Range */
/** @typedef {import('../../../chats/context/spoken.js').Said} Said */
/** @typedef {import('../../../engine/client.js').EngineClient} Engine */
/** @typedef {import('../../../engine/messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../../../engine/messages.js').Finished} Finished */
/** @typedef {import('../../../engine/messages.js').Token} Token */
/** @typedef {import('./veils.js').Veils} Veils */

/** Takes what the page says, and gives what it shows: the methods of the engine of the same names. */
export class Veil {
  /** @param {Veils} veils @param {Engine} engine @param {Chat} chat that has redaction */
  constructor(veils, engine, chat) {
    this._veils = veils;
    this._engine = engine;
    this._chat = chat;
  }

  /**
   * @param {ReplyRequest} request @param {{onToken?: (token: Token) => void} | undefined} options
   * @param {{early: boolean, stop: () => void}} ended whether it was stopped before it began; what stops it from then on
   * @returns {Promise<Finished>}
   */
  async reply(request, options, ended) {
    const sent = await this._request(request);
    if (ended.early) return unmade(request);
    const { take, whole, broken } = this._reading(options?.onToken ?? (() => {}), isJson(request.form?.kind));
    const { done, stop } = this._engine.reply(sent, { onToken: take });
    ended.stop = stop;
    return whole(await done.catch(broken));
  }

  /** @param {string} chat @param {Kept[] | null} messages @param {string} text */
  async count(chat, messages, text) {
    const out = this._veils.outgoing(this._chat);
    const { messages: made, others } = await out.all(messages ?? [], [text]);
    return this._engine.count(chat, messages && messages.map((each, i) => keptAs(each, made[i])), others[0].text);
  }

  /** @param {string} chat @param {Kept[]} messages @param {Parameters<Engine['propose']>[2]} how */
  async propose(chat, messages, how) {
    const { messages: made } = await this._veils.outgoing(this._chat).all(messages);
    const proposal = await this._engine.propose(chat, messages.map((each, i) => keptAs(each, made[i])), how);
    const dropped = proposal.dropped.map(([index, ranges]) => {
      const back = made[index].alignment.back;
      return /** @type {[number, Range[]]} */ ([index, rangesAs(ranges, made[index].text, messages[index].content, back)]);
    });
    return { ...proposal, dropped };
  }

  /** @param {Parameters<Engine['chatTokens']>[0]} shown */
  async chatTokens(shown) {
    const { messages: made } = await this._veils.outgoing(this._chat).all(shown.messages);
    const tokens = await this._engine.chatTokens({ ...shown, messages: sentAs(shown.messages, made) });
    const backs = made.map(({ alignment }) => alignment.back);
    const [at, length] = [tokens.at.slice(), tokens.length.slice()];
    tokens.message.forEach((message, i) => {
      at[i] = backs[message].of(tokens.at[i]);
      length[i] = backs[message].of(tokens.at[i] + tokens.length[i]) - at[i];
    });
    return { ...tokens, at, length };
  }

  /** @param {Parameters<Engine['heads']>[0]} asked */
  async heads(asked) {
    const { messages: made } = await this._veils.outgoing(this._chat).all(asked.messages);
    return this._engine.heads({ ...asked, messages: sentAs(asked.messages, made) });
  }

  /**
   * Of what went out as it was, that is named too; nothing else may be, as names tell of the text.
   * @param {string} chat @param {Said[][]} said none: nothing is named
   */
  async forgetChat(chat, said) {
    const all = [];
    for (const { reply, messages } of said.length ? saidWith(this._chat) : []) {
      const { messages: made } = await this._veils.outgoing(this._chat).all(messages);
      all.push(sentAs(messages, made));
      if (this._wentPlain(reply)) all.push(messages.map(({ role, content }) => ({ role, content })));
    }
    return this._engine.forgetChat(chat, all);
  }

  /** @param {string} chat */
  async gathered(chat) {
    const turns = await this._engine.gathered(chat);
    const { latest } = this._veils;
    if (!turns || latest?.chat !== chat) return null;
    return turns.map((units, i) => units && latest.alignments[i].back.carried(units));
  }

  /** @param {ReplyRequest} request @returns {Promise<ReplyRequest>} */
  async _request(request) {
    const out = this._veils.outgoing(this._chat);
    const { begun, expected = '', form = null, stop } = request;
    const forms = textsOf(form);
    const { messages, others } = await out.all(request.messages, [expected, begun?.text ?? '', ...forms, ...stop]);
    const [drafted, beginning, ...rest] = others.map(({ text }) => text);
    await this._veils.keep(this._chat, out);
    this._veils.latest = { chat: request.chat, alignments: messages.map(({ alignment }) => alignment) };
    return {
      ...request,
      messages: sentAs(request.messages, messages),
      brightness: request.brightness?.map((units, i) => messages[i].alignment.carried(units)),
      expected: drafted,
      begun: begun && { ...begun, text: out.on ? (begun.sent ?? beginning) : begun.text },
      form: withTexts(form, rest.slice(0, forms.length)),
      stop: rest.slice(forms.length),
      // No other chat's words are guessed in this one, and none of this one in others.
      draftMemory: 'chat',
    };
  }

  /**
   * What takes a reply's tokens, what it is as a whole, and what is called where it breaks off.
   * @param {(token: Token) => void} onToken @param {boolean} json
   * @returns {{take: (token: Token) => void, whole: (done: Finished) => Finished, broken: (error: unknown) => never}}
   */
  _reading(onToken, json) {
    const fail = (/** @type {unknown} */ error) => {
      throw error;
    };
    if (!this._veils.redactionOf(this._chat).on) return { take: onToken, whole: (done) => done, broken: fail };
    const known = this._veils.known(this._chat);
    const undo = known.undoing({ json });
    /** @type {Token | null} */
    let last = null;
    return {
      take: (token) => {
        last = token;
        onToken({ ...token, text: undo.push(token.text), sent: token.text });
      },
      whole: (done) => ({ ...done, text: known.undone(done.text, { json }).text, sent: done.text }),
      broken: (error) => {
        const text = undo.finish();
        if (last && text) onToken({ ...last, begun: false, token: -1, text, sent: '' });
        return fail(error);
      },
    };
  }

  /** @param {import('../../../chats/types').ChatNode} reply */
  _wentPlain({ id, sent, reason }) {
    const { on, before } = this._veils.redactionOf(this._chat);
    return sent === undefined && reason !== AMENDED && (!on || Number(id.slice(1)) <= before);
  }
}

/** A reply that was stopped before anything went out. @param {ReplyRequest} request @returns {Finished} */
function unmade({ adapter, begun }) {
  const none = { tokens: 0, promptTokens: 0, promptSent: 0, promptRestored: 0, roundTrips: 0, rowsSent: 0, drafted: 0 };
  return { reason: 'cancelled', text: begun?.text ?? '', seed: '0', adapter, accepted: 0, forced: 0, ttft: 0, tokensPerSecond: 0, ...none };
}
