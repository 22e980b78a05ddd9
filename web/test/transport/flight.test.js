import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLost } from '../../src/transport/errors.js';
import { Flight } from '../../src/transport/flight.js';
import { Script } from './fakes.js';

const [A, B, C] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)];
const HOW = { timeout: 1, signal: new AbortController().signal };

/** A connection that carries several frames, and answers each by itself. */
class Several {
  constructor() {
    this.open = true;
    /** @type {Uint8Array[]} */
    this.sent = [];
    this.forgone = 0;
    this.received = 0;
    this.breaks = false;
  }

  /** @param {Uint8Array} frame */
  send(frame) {
    this.sent.push(frame);
  }

  async receive() {
    if (this.breaks) throw new ConnectionLost('cut');
    this.received += 1;
    return this.sent[this.received - 1];
  }

  /** @param {number} count */
  forgo(count) {
    this.forgone += count;
    this.received += count;
  }
}

/** @param {(Several | null)[]} transports */
function flightOver(...transports) {
  const at = () => /** @type {any} */ (transports[0]);
  return { flight: new Flight(at, (flight) => flight.carry(at(), HOW)), transports };
}

test('frames go at once, and their answers come in order', async () => {
  const { flight, transports: [first] } = flightOver(new Several());
  flight.push(A);
  flight.push(B);
  assert.deepEqual(first?.sent, [A, B]);
  assert.deepEqual([await flight.answer(), await flight.answer()], [A, B]);
  assert.deepEqual(flight.unanswered, []);
});

test('what has no answer goes again over the next connection, in order', async () => {
  const [first, second] = [new Several(), new Several()];
  const { flight, transports } = flightOver(first, second);
  for (const frame of [A, B, C]) flight.push(frame);
  assert.deepEqual(await flight.answer(), A);
  first.breaks = true;
  await assert.rejects(flight.answer(), { code: 'connection_lost' });
  transports.shift();
  assert.deepEqual([await flight.answer(), await flight.answer()], [B, C]);
  assert.deepEqual(second.sent, [B, C]);
});

test('answers that nobody waits for any more are nobody else\'s', async () => {
  const { flight, transports: [only] } = flightOver(new Several());
  flight.push(A);
  flight.push(B);
  flight.drop();
  flight.push(C);
  assert.deepEqual([only?.forgone, await flight.answer()], [2, C]);
});

test('a connection that is closed is sent nothing', () => {
  const closed = Object.assign(new Several(), { open: false });
  flightOver(closed).flight.push(A);
  flightOver(null).flight.push(A);
  assert.deepEqual(closed.sent, []);
});

test('over a connection for one frame at a time they go one after the other', async () => {
  const script = new Script();
  const channel = script.channel({ mode: 'http' });
  const answers = await channel.flight(async (flight) => {
    for (const frame of [A, B, C]) flight.push(frame);
    return [await flight.answer(), await flight.answer(), await flight.answer()];
  });
  assert.deepEqual(answers.map(([first]) => first), [1, 2, 3]);
  assert.deepEqual([script.sent, script.most, channel.several], [[A, B, C], 1, false]);
});

test('one caller\'s frames are answered before another\'s go', async () => {
  const script = new Script();
  const channel = script.channel();
  const first = channel.flight(async (flight) => {
    flight.push(A);
    await flight.answer();
    flight.push(B);
    return flight.answer();
  });
  await Promise.all([first, channel.exchange(C)]);
  assert.deepEqual(script.sent, [A, B, C]);
});
