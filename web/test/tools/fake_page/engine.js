// An engine without a model, for tests of the page: it has the methods of EngineClient and answers by itself.
import { AppError } from '../../../src/common/errors.js';
import { FakeReplyAttention } from './attention.js';
import { FakeContext } from './context.js';
import { FakeAnswers } from './answers.js';
import { fakeBrightness, fakeHeads, fakeTokens } from './tint.js';

const REPLY = `Split inference cuts a model in two places. Your **device** holds the ends:

1. the tokenizer and the embedding table,
2. the LM head and the sampler.

The server computes what lies *between* them. In code:

\`\`\`python
for token in decode(prompt, adapter=None, temperature=0.7, top_p=0.95, seed=11):
    print(token, end="", flush=True)
\`\`\`

| part | where | size |
| --- | --- | ---: |
| ends | here | 8.4 MB |
| middle | server | 21 MB |

- [x] streamed
- [ ] <img src=x onerror="document.title='broken'"> and <script>document.title = 'broken'</script> stay text

> Assume that the server can recover what you write.

See [the documentation](https://example.org/docs).`;

const SERVER = {
  manifest: {
    digest: 'd1',
    name: 'gatelink-embedded-2m',
    family: 'llama',
    licence: 'Apache-2.0',
    maxContext: 2048,
    generation: { temperature: 0.7, top_p: 0.95 },
    size: 8_400_000,
    hasTemplate: true,
    layers: 4,
  },
  stored: true,
  doneBytes: 8_400_000,
  comes: 8_400_000,
  storage: 'opfs',
  freeBytes: 12_000_000_000,
  adapters: [
    { name: 'banking', description: 'Questions about accounts and cards.', rank: 8, hiddenSize: 64, scale: 1,
      keywords: ['account'], encrypted: false },
  ],
  hosts: /** @type {string[]} */ ([]),
};
const HOSTS = ['https://adapters.example.org:8097', 'http://127.0.0.1:8097'];

const WORDY = { ...SERVER.adapters[0], name: 'chemistry', description: `Names like ${'methylpropyl'.repeat(9)}.` };

/** What was said last, in words, code, addresses and tags. @param {{content: string}[]} messages */
function echo(messages) {
  const said = messages.at(-1)?.content ?? '';
  const address = encodeURI(said.split('\n')[0]);
  return `You said: ${said}\n\n\`${said.split('\n')[0]}\` [more of ${said.split('\n')[0]}](https://example.org/?q=${address}) `
    + `https://example.org/${address} <a href="https://example.org/?${said.split('\n')[0]}">`;
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * `?engine=` of the page's address: ready, needs_download, needs_token, revoked, offline, lost, long, full,
 * hosts, no_attention, no_tokens, too_long, too_old, wordy, echo (it says again what it is told, also as addresses).
 */
export class FakeEngine {
  constructor(kind = new URLSearchParams(location.search).get('engine') ?? 'ready') {
    this.kind = kind;
    this.onNotice = (/** @type {any} */ _notice) => {};
    this._stats = { bytesUp: 0, bytesDown: 0, exchanges: 0, transport: 'websocket', reconnects: 0,
      cachedTokens: 0, dtype: 'f16' };
    this._done = 0;
    this._paused = false;
    /** The replies that were asked for, as it was told of them. @type {any[]} */
    this.asked = [];
    /** @type {FakeReplyAttention | null} */
    this._attention = null;
    this._answers = new FakeAnswers();
    /** @type {(Uint16Array | null)[] | null} */
    this._gathered = null;
  }

  /** @param {any} where */
  async connect({ token }) {
    await pause(20);
    const known = token && !token.startsWith('not-');
    if (this.kind === 'needs_token' && !known) throw new AppError('unauthorized', 'a token is needed');
    if (this.kind === 'revoked') throw new AppError('device_revoked', 'this device was revoked');
    if (this.kind === 'offline') throw new AppError('server_unreachable', 'the server does not answer');
    if (this.kind === 'too_old') throw new AppError('browser_too_old', 'this browser has WebAssembly without SIMD');
    if (this.kind === 'failed') throw new AppError('manifest_invalid', 'the manifest of this server is damaged');
    const stored = this.kind !== 'needs_download' || this._done === SERVER.manifest.size;
    const adapters = this.kind === 'wordy' ? [...SERVER.adapters, WORDY] : SERVER.adapters;
    const hosts = this.kind === 'hosts' ? HOSTS : [];
    return { ...SERVER, adapters, hosts, stored, doneBytes: stored ? SERVER.manifest.size : this._done };
  }

  /** @param {string} host @param {string | null} token */
  async hostedAdapters(host, token) {
    await pause(20);
    if (host === HOSTS[1]) throw new AppError('adapter_host_unreachable', `cannot reach the adapter host ${host}: it is off`);
    if (token === null) throw new AppError('adapter_host_unauthorized', 'the adapter host refuses: a valid token is needed');
    return [{ ...SERVER.adapters[0], name: 'tax', description: 'Questions about taxes.', encrypted: true }];
  }

  /** @param {any} options */
  async pull({ onProgress }) {
    this._paused = false;
    const total = SERVER.manifest.size;
    while (this._done < total) {
      await pause(60);
      if (this._paused) throw new AppError('paused', 'the download is paused');
      this._done = Math.min(total, this._done + 150_000);
      onProgress({ done: this._done, total });
    }
  }

  async pause() {
    this._paused = true;
  }

  async models() {
    const { digest, name, size } = SERVER.manifest;
    return [{ digest, name, complete: true, bytes: size }];
  }

  async remove() {
    this._done = 0;
    this.kind = 'needs_download';
  }

  /** @param {any} options */
  async prepare({ onPrepare }) {
    onPrepare(1);
    return { kernel: 'simd', workers: 2 };
  }

  /** @param {any} request @param {any} options */
  reply(request, { onToken }) {
    let stopped = false;
    const times = this.kind === 'long' ? 12 : 1;
    const text = this.kind === 'echo' ? echo(request.messages) : Array(times).fill(REPLY).join('\n\n');
    const pieces = text.match(/\s*\S+/g) ?? [];
    this.asked.push(structuredClone(request));
    const { before, rest } = this._answers.begin(request, pieces);
    const done = this._speak(rest, onToken, () => stopped, request, before);
    return { done, stop: () => (stopped = true) };
  }

  /** @param {string[]} pieces @param {any} onToken @param {() => boolean} isStopped @param {any} request @param {string} before */
  async _speak(pieces, onToken, isStopped, request, before) {
    const start = performance.now();
    FakeContext.require(request);
    const tells = request.attention && this.kind !== 'no_attention';
    this._attention = tells ? new FakeReplyAttention(request.messages) : null;
    this._gathered = tells ? fakeBrightness(request.messages) : null;
    if (request.attention && !this._attention) this.onNotice({ type: 'no_attention', code: 'unsupported' });
    let text = before;
    let index = 0;
    if (before) onToken({ text: before, begun: true });
    if (this.kind === 'full') await this._wait(isStopped);
    await pause(120);
    if (this.kind === 'too_long') throw new AppError('context_overflow', 'the chat exceeds the context of 2048');
    const ttft = (performance.now() - start) / 1000;
    for (const piece of pieces) {
      if (isStopped()) break;
      await pause(this.kind === 'long' ? 6 : 12);
      if (this.kind === 'lost' && index === 30) await this._lose();
      text += piece;
      this._attention?.push(piece);
      this._answers.push(request.answer, piece);
      this._stats.bytesUp += 212;
      this._stats.bytesDown += 188;
      this._stats.exchanges += 1;
      this._stats.cachedTokens += 1;
      onToken({ text: piece, probability: 0.8, rows: 1, index: index++,
        timing: { total: 0.012, engine: 0.004, queue: 0, wire: 0.002, device: 0.006 } });
    }
    return { reason: isStopped() ? 'cancelled' : 'eos', text, tokens: index, promptTokens: 20, promptSent: 20,
      seed: '11', adapter: request.adapter, ttft,
      tokensPerSecond: (index - 1) / ((performance.now() - start) / 1000 - ttft) };
  }

  /** @param {() => boolean} isStopped */
  async _wait(isStopped) {
    this.onNotice({ type: 'waiting', code: 'too_many_sessions', delay: 4 });
    for (let i = 0; i < 15 && !isStopped(); i++) await pause(100);
    this.onNotice({ type: 'waited' });
  }

  async _lose() {
    this.onNotice({ type: 'reconnecting', reason: 'the network went away', attempt: 1, delay: 2 });
    await pause(1500);
    if (new URLSearchParams(location.search).has('breaks')) {
      throw new AppError('connection_lost', 'the connection was lost: the network went away');
    }
    this.onNotice({ type: 'reconnected' });
  }

  async stats() {
    return { ...this._stats };
  }

  /** @param {string} _chat @param {number} from */
  async attended(_chat, from) {
    return this._attention?.attended(from) ?? null;
  }

  /** @param {string} _chat @param {number | null} token */
  async attention(_chat, token) {
    return this._attention?.row(token) ?? null;
  }

  /** @param {string} answer @param {number} from */
  async tokens(answer, from) {
    await pause(20);
    return this._answers.tokens(answer, from);
  }

  /** @param {string} answer @param {number} at */
  async alternatives(answer, at) {
    await pause(20);
    return this._answers.alternatives(answer, at);
  }

  /** @param {string} _chat @param {number} position */
  async looked(_chat, position) {
    const attention = this._attention;
    const kept = attention && position >= attention.promptTokens && position < attention.spans.length;
    return kept ? attention.row(position - attention.promptTokens) : null;
  }

  /** @param {string} _chat @param {number} before */
  async farBack(_chat, before) {
    const attention = this._attention;
    if (!attention) return null;
    const tokens = attention.spans.length - attention.promptTokens;
    const shares = Float32Array.from({ length: tokens }, (_, token) =>
      attention.row(token).slice(1, before).reduce((sum, weight) => sum + weight, 0));
    return { first: attention.promptTokens, shares };
  }

  /** @param {string} _chat */
  async lookedRows(_chat) {
    const attention = this._attention;
    if (!attention) return [];
    return [{ position: attention.promptTokens, positions: null, weights: [...attention.row(0)] }];
  }

  /** @param {string} _chat */
  async gathered(_chat) {
    return this._gathered;
  }

  /** @param {any} shown */
  async chatTokens({ messages }) {
    if (this.kind === 'no_tokens') throw new AppError('text_too_costly', 'this text took too long to become tokens');
    return fakeTokens(messages);
  }

  /** @param {number} position */
  async headsCost(position) {
    return { up: 384 * position, down: 48 * position };
  }

  /** @param {any} wish */
  async heads(wish) {
    await pause(50);
    return fakeHeads(wish);
  }

  wake() {}

  /** @param {string} _chat @param {any} settings */
  async noise(_chat, { epsilon, sigma, delta, clip, budget }) {
    await pause(20);
    if (clip === 99) throw new AppError('ledger_failed', 'the noise ledger of this browser cannot be used');
    const rows = this._stats.cachedTokens;
    const loss = { rows, sendings: rows && 1, token: rows ? 8 : 0, whole: rows ? 512.344 : 0 };
    return { delta, clip: clip ?? 3.352, sigma: sigma ?? 1.613, width: 192, sensitivity: 4.871, exact: true,
      token: epsilon ?? 3.2, chat: loss, all: { ...loss, rows: rows + 120, sendings: 3, token: 14.2, whole: Infinity },
      budget: budget && { epsilon: budget, spent: 12.3, room: 17 }, ownPenalty: 1.1 };
  }

  async forgetNoise() {}

  /** @param {string} _chat @param {any[]} said */
  async forgetChat(_chat, said) {
    await pause(20);
    return { positions: 1158 * Math.sign(said.length), left: 0, earlier: true };
  }

  /** @param {string} _chat @param {any[] | null} messages @param {string} text */
  async count(_chat, messages, text) {
    return FakeContext.count(messages, text);
  }

  /** @param {string} _chat @param {any[]} messages @param {any} how */
  async propose(_chat, messages, how) {
    return FakeContext.propose(messages, how);
  }

  async closeChat() {}

  async expect() {}

  close() {}
}
