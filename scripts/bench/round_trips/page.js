// The page's half of the benchmark of round trips: its loop, drafts, forms and sequence over scripted states.
// Time is counted; what the worker itself takes is added by its clock.
import { decode } from '../../../web/src/generation/loop.js';
import { Drafter } from '../../../web/src/generation/speculation/drafter.js';
import { Lookahead } from '../../../web/src/generation/speculation/lookahead.js';
import { Memo } from '../../../web/src/generation/speculation/memo.js';
import { languageOf } from '../../../web/src/grammar/form.js';
import { FormFollower } from '../../../web/src/grammar/reply.js';
import { TokenTree } from '../../../web/src/grammar/tokens/trie.js';
import { Sequence } from '../../../web/src/session/sequence.js';
import { tokenBytes } from '../../../web/src/text/tokenizer/token_bytes.js';
import { ModelTokenizer } from '../../../web/src/text/tokenizer/tokenizer.js';
import { answer } from '../web/loop_peer/jobs.js';

const HALF = 1 << 16;
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

let model = null;

answer({ open, replies }, (error) => error.stack ?? String(error));

/** The embedded model's tokenizer. */
function open({ text, rows, eos }) {
  const tokenizer = ModelTokenizer.open(text, rows);
  const bytes = tokenBytes(tokenizer, rows);
  model = { tokenizer, bytes, tree: new TokenTree(bytes), eos };
  return null;
}

/** All turns of one chat over one network: seconds, traffic and ids. `remembered`: replies of another one. */
async function replies({ network, turns, drafts, remembered }) {
  const clock = new CountedClock();
  const backend = new ScriptedBackend(network, clock);
  const sequence = new Sequence(backend, async (tokens, start, stop) => rowsOf(tokens.slice(start, stop)));
  const memo = remembered ? new Memo() : null;
  for (const [prompt, reply] of remembered ?? []) memo.replied(prompt, reply);
  const drafter = drafts ? Drafter.ofChat(memo) : null;
  const ids = [];
  let seconds = 0;
  for (const turn of turns) {
    await sequence.extend(turn.prompt.length > 1 ? turn.prompt.slice(0, -1) : turn.prompt);
    backend.count(true);
    const began = clock.now();
    for await (const event of reply(sequence, drafter, turn, network, clock)) if (event.type === 'token') ids.push(event.token);
    seconds += clock.now() - began;
    backend.count(false);
  }
  return { ids, seconds, traffic: backend.traffic };
}

function reply(sequence, drafter, turn, network, clock) {
  const sampler = new ScriptedSampler(turn, network, clock);
  const limits = { eosTokenIds: new Set(), maxTokens: turn.most, stops: [] };
  const text = { push: () => '', flush: () => '' };
  const constraint = turn.form ? new Followed(turn.form) : null;
  const ahead = new Lookahead(sequence, drafter);
  return decode(ahead, sampler, text, turn.prompt, limits, { constraint, clock: () => clock.now() });
}

class CountedClock {
  constructor() {
    this.counted = 0;
  }

  now() {
    return this.counted + performance.now() / 1000;
  }
}

/** As scripted.py has it. */
class ScriptedBackend {
  constructor(network, clock) {
    this._network = network;
    this._clock = clock;
    this._sums = [0];
    this._counts = false;
    this.maxRows = 512;
    this.maxContext = 1 << 20;
    this.interactiveRows = 16;
    this.traffic = { steps: 0, rows: 0, states: 0, up: 0, down: 0 };
  }

  count(on) {
    this._counts = on;
  }

  async open() {}

  async close() {}

  async step(start, embeddings, { rows = 1 } = {}) {
    this._sums.length = start + 1;
    const sent = embeddings.length / 2;
    for (let at = 0; at < sent; at++) {
      this._sums.push(next(this._sums.at(-1), embeddings[2 * at] + HALF * embeddings[2 * at + 1]));
    }
    const { fixed, per_row: perRow, round_trip: roundTrip, up, down, header_up: headUp, header_down: headDown, row } = this._network;
    const [upBytes, downBytes] = [headUp + row * sent, headDown + row * rows];
    const compute = fixed + perRow * sent;
    const seconds = roundTrip + (8 * upBytes) / up + (8 * downBytes) / down + compute;
    this._clock.counted += seconds;
    if (this._counts) this._add({ steps: 1, rows: sent, states: rows, up: upBytes, down: downBytes });
    const hidden = Float32Array.from(this._sums.slice(-rows).flatMap((sum) => [sum % HALF, Math.floor(sum / HALF)]));
    return { hidden, computeUs: Math.round(1e6 * compute), queueUs: 0, exchangeUs: Math.round(1e6 * seconds) };
  }

  _add(more) {
    for (const [name, value] of Object.entries(more)) this.traffic[name] += value;
  }
}

class ScriptedSampler {
  constructor(turn, network, clock) {
    this._turn = turn;
    this._network = network;
    this._clock = clock;
    this._sum = turn.prompt.reduce(next, 0);
    this._summed = 0;
    this.params = { banned: new Set() };
    this.head = null;
  }

  async choose(hidden, prompt, generated, drawIndex, allowed) {
    this._clock.counted += this._network.head;
    while (this._summed < generated.length) this._sum = next(this._sum, generated[this._summed++]);
    const right = hidden[0] === this._sum % HALF && hidden[1] === Math.floor(this._sum / HALF);
    if (!right || drawIndex !== generated.length) throw new Error(`the state for token ${generated.length} is of other tokens`);
    return { token: this._turn.text ? said(this._turn.text, generated, allowed) : this._turn.reply[generated.length], probability: 1 };
  }
}

/** A form that is followed in this worker. */
class Followed {
  constructor(schema) {
    const { tree, eos, tokenizer } = model;
    const encode = async (text) => tokenizer.encode(text);
    this._follower = new FormFollower(tree, languageOf({ kind: 'json_schema', text: schema }), { eos, encode });
    this._of = this._follower.start;
  }

  allowed(remaining) {
    return this._follower.allowed(this._of, remaining);
  }

  forced(remaining) {
    return this._follower.forced(this._of, remaining);
  }

  permitted(tokens, remaining) {
    return this._follower.permitted(this._of, tokens, remaining);
  }

  accept(token) {
    this._of = this._follower.after(this._of, token);
  }

  get finished() {
    return this._follower.isFinished(this._of);
  }
}

/** The next token of `text`: of its own encoding, or the longest allowed one that it goes on with. */
function said(text, generated, allowed) {
  const data = new TextEncoder().encode(text);
  const at = generated.reduce((sum, token) => sum + pieceOf(token).length, 0);
  const own = model.tokenizer.encode(new TextDecoder().decode(data.subarray(at)))[0];
  if (allowed === null || allowed[own]) return own;
  let best = -1;
  for (let token = 0; token < allowed.length; token++) {
    const piece = allowed[token] ? pieceOf(token) : [];
    const fits = piece.length > 0 && piece.every((byte, i) => data[at + i] === byte);
    if (fits && (best < 0 || piece.length > pieceOf(best).length)) best = token;
  }
  if (best < 0) throw new Error('the form does not allow what is said');
  return best;
}

function pieceOf(token) {
  const { bytes, offsets } = model.bytes;
  return bytes.subarray(offsets[token], offsets[token + 1]);
}

function rowsOf(tokens) {
  return Float32Array.from(tokens.flatMap((token) => [token % HALF, Math.floor(token / HALF)]));
}

/** CRC-32 (ISO 3309) continued by the four bytes of `token`, the lowest first. */
function next(value, token) {
  let sum = ~value >>> 0;
  for (let shift = 0; shift < 32; shift += 8) sum = CRC[(sum ^ (token >>> shift)) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}
