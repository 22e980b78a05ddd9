// The engine in a page without the app around it, driven by tests/web/engine/page.py.
import { EngineClient } from '../../src/engine/client.js';

const engine = new EngineClient();
/** @type {any[]} */
const notices = [];
engine.onNotice = (notice) => notices.push(notice);

/** @type {Record<string, {tokens: any[], stop: () => void, done: Promise<any>}>} */
const replies = {};

Object.assign(globalThis, {
  engine,
  notices,
  /** Connects, downloads and opens the ends. */
  async ready(/** @type {any} */ where) {
    const connected = await engine.connect(where);
    if (!connected.stored) await engine.pull();
    return { ...connected, ...(await engine.prepare()) };
  },
  /** Starts a reply under a name. */
  begin(/** @type {string} */ name, /** @type {any} */ request) {
    /** @type {any[]} */
    const tokens = [];
    const { done, stop } = engine.reply(request, { onToken: (token) => tokens.push(token) });
    done.catch(() => {});
    replies[name] = { tokens, stop, done };
  },
  tokensOf: (/** @type {string} */ name) => replies[name].tokens,
  stopReply: (/** @type {string} */ name) => replies[name].stop(),
  /** Its end, with the tokens on the way; errors as {error: code}. */
  async finished(/** @type {string} */ name) {
    try {
      const finished = await replies[name].done;
      return { ...finished, ids: replies[name].tokens.map((t) => t.token).filter((t) => t >= 0) };
    } catch (error) {
      return { error: /** @type {any} */ (error).code, message: /** @type {any} */ (error).message };
    }
  },
});
