// How full chats are, where a token is four characters.
import { ChatContext } from '../../../src/engine/context/chat_context.js';
import { TokenCounter } from '../../../src/engine/context/counter.js';
import { requireRoom } from '../../../src/engine/context/room.js';

// `?room=` of the page's address: another one.
const LIMIT = Number(new URLSearchParams(location.search).get('room') ?? 2048);
// What the template puts around a message.
const AROUND = 5;

const encode = (/** @type {string} */ text) => Array(Math.ceil(text.length / 4)).fill(0);
const counter = new TokenCounter({ encode });
const idsOf = async (/** @type {any[]} */ messages) => messages.flatMap(({ content }) => [...Array(AROUND).fill(0), ...encode(content)]);
const context = new ChatContext({ counter, idsOf, shared: () => 0, limit: LIMIT });

export const FakeContext = {
  /** @param {any[] | null} messages @param {string} text */
  count: async (messages, text) => ({ fill: messages && (await context.fill(messages)), text: counter.of(text) }),
  /** @param {any[]} messages @param {any} how */
  propose: (messages, how) => context.propose(messages, how),
  /** @param {any} request throws ContextFull */
  require: (request) => {
    const prompt = request.messages.reduce((/** @type {number} */ sum, /** @type {any} */ { content }) => sum + AROUND + encode(content).length, 0);
    requireRoom(prompt, LIMIT, request);
  },
};
