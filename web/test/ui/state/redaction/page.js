// A page that is ready, with an engine that counts words as tokens and says what a test has it say.
import { firstRedaction } from '../../../../src/settings/redaction.js';
import { DEFAULTS } from '../../../../src/settings/settings.js';
import { App } from '../../../../src/ui/state/app.js';
// So that it is there in a few turns when a chat asks for it.
import '../../../../src/ui/state/redaction/veils.js';
import { WorkerHere } from '../../../redaction/here.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../../scripted.js';

globalThis.Worker = /** @type {any} */ (WorkerHere);
export const CHOICE = firstRedaction(['de-DE']);

/** Counts at once. */
class CountingEngine extends ScriptedEngine {
  /** @param {any[]} given */
  count(...given) {
    const [, messages, text] = given;
    this.counted = given;
    const lengths = messages?.map((/** @type {any} */ { content }) => content.length) ?? [];
    const fill = messages && { messages: lengths, total: 9, again: 9, limit: 256, exact: true };
    return Promise.resolve({ fill, text: text.split(/\s+/).filter(Boolean).length });
  }
}

/** Until nothing goes on by itself. */
export async function quiet() {
  for (let i = 0; i < 60; i++) await settled();
}

/** @param {Record<string, any>} [settings] @param {any} [records] */
export async function redactedPage(settings = { redaction: CHOICE }, records = undefined) {
  const engine = /** @type {any} */ (new CountingEngine());
  const store = await memoryChats(records);
  const app = new App({
    spawn: () => engine,
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS, ...settings },
    saveSettings: () => true,
    clock: { now: () => 0, frame: (run) => run() },
  });
  await untilReady(app, engine);
  const asked = () => engine.last('reply').args[0];
  /** What the model says of what it was told, in pieces. */
  const answer = async (/** @type {string} */ text, about = {}) => {
    for (const piece of text.match(/.{1,3}/gsu) ?? []) engine.last('reply').args[1].onToken({ text: piece });
    engine.last('reply').resolve({ reason: 'eos', tokens: 2, seed: '12', text, ...about });
    await quiet();
  };
  const say = async (/** @type {string} */ text) => {
    app.send(text);
    await quiet();
    return asked();
  };
  const chat = () => app.library.chat.value;
  return { app, engine, store, asked, answer, say, chat };
}
