// Replies that look ahead over a real protocol whose frames and answers are lost, or whose sessions are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../../src/generation/loop.js';
import { paramsFrom } from '../../../src/generation/params.js';
import { Sampler } from '../../../src/generation/sampler.js';
import { Lookahead } from '../../../src/generation/speculation/lookahead.js';
import { Peer, WIDTH } from '../../session/peer.js';
import { Rig } from '../../session/rig.js';
import { PlainHead } from '../plain_head.js';
import { randomNumbers } from '../random.js';
import { VOCABULARY, guessing } from './scripted.js';

const COUNT = process.env.GATELINK_EXHAUSTIVE ? 400 : 40;
const weights = Float32Array.from({ length: VOCABULARY * WIDTH }, randomNumbers(1));

/**
 * Its tokens and reason, and what the server was asked. @param {number} seed
 * @param {{faults?: boolean, through?: (made: {sequence: any, prompt: number[]}) => any}} [how]
 */
async function reply(seed, { faults = false, through = ({ sequence }) => sequence } = {}) {
  const chance = randomNumbers(seed);
  const rig = new Rig({ peer: Object.assign(new Peer(), { maxRows: 16, returnsRows: seed % 3 > 0 }) });
  rig.fate = () => {
    const lot = faults ? chance() : 1;
    if (lot < 0.05) rig.peer.sessions.clear();
    if (lot < 0.15) return 'before';
    return lot < 0.3 ? 'after' : 'works';
  };
  const prompt = Array.from({ length: 5 }, (_, i) => 1 + ((seed + i) % 7));
  const params = paramsFrom({ temperature: seed % 2 ? 0.9 : 0, seed: BigInt(seed) });
  const sampler = new Sampler(new PlainHead(weights, WIDTH), params);
  const limits = { eosTokenIds: new Set([0]), maxTokens: 20, stops: [] };
  const detokenizer = { push: () => '', flush: () => '' };
  const ids = [];
  const sequence = through({ sequence: rig.sequence, prompt });
  for await (const event of decode(sequence, sampler, detokenizer, prompt, limits)) {
    if (event.type === 'token') ids.push(event.token);
    else ids.push(event.reason);
  }
  return { ids, rig, prompt };
}

test('no token is lost or doubled where frames, answers and sessions are lost in the middle', async () => {
  const sum = { resends: 0, accepted: 0, lost: 0, tokens: 0 };
  for (let seed = 0; seed < COUNT; seed++) {
    const plain = await reply(seed);
    /** @type {any} */
    let ahead;
    const through = (/** @type {{sequence: any, prompt: number[]}} */ { sequence, prompt }) => {
      const whole = [...prompt, ...plain.ids.filter((id) => typeof id === 'number')];
      return (ahead = new Lookahead(sequence, guessing(whole, randomNumbers(seed + 1))));
    };
    const killed = await reply(seed, { faults: true, through });
    assert.deepEqual(killed.ids, plain.ids, `seed ${seed}`);
    assert.ok([...killed.rig.peer.runs.values()].every((runs) => runs === 1), 'a step was appended twice');
    sum.accepted += ahead.figures.accepted;
    sum.resends += killed.rig.sequence.counters.resends;
    sum.lost += killed.rig.waits.length;
    sum.tokens += plain.ids.length;
  }
  assert.ok(sum.accepted > COUNT && sum.resends > COUNT / 10 && sum.tokens > 5 * COUNT, JSON.stringify(sum));
});
