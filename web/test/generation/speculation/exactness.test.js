// Replies that look ahead are those of plain decoding, whatever the drafts hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Drafter } from '../../../src/generation/speculation/drafter.js';
import { Lookahead } from '../../../src/generation/speculation/lookahead.js';
import { Memo } from '../../../src/generation/speculation/memo.js';
import { randomNumbers } from '../random.js';
import { caseOf, guessing, replyOf, told } from './scripted.js';

const COUNT = process.env.GATELINK_EXHAUSTIVE ? 5000 : 400;
const SEEDS = Array.from({ length: COUNT }, (_, seed) => seed);

/** @typedef {import('./scripted.js').Case} Case */

/** The plain reply, in which every token has a step of its own. @param {Case} about */
const plainly = (about) => replyOf(about, { telling: false });

/**
 * @param {Case} about @param {number[]} ids of the plain reply
 * @param {(sequence: any) => any} [through] a fault between the two
 */
const ahead = (about, ids, through = (sequence) => sequence) =>
  replyOf(about, {
    through: (sequence) => new Lookahead(through(sequence), guessing([...about.prompt, ...ids], randomNumbers(about.seed))),
  });

/** How many of some replies are others. @param {number} count @param {(about: Case, ids: number[]) => Promise<any>} make */
async function differing(count, make) {
  let others = 0;
  for (const seed of SEEDS.slice(0, count)) {
    const about = caseOf(seed);
    const plain = await plainly(about);
    const made = await make(about, plain.ids);
    if (JSON.stringify(told(made.events)) !== JSON.stringify(told(plain.events))) others += 1;
  }
  return others;
}

test('seeded replies of all samplers, forms, stops and losses are those of plain decoding', async () => {
  const sum = { tokens: 0, steps: 0, plain: 0, drafted: 0, accepted: 0, forced: 0, failed: 0 };
  for (const seed of SEEDS) {
    const about = caseOf(seed);
    const plain = await plainly(about);
    const made = await ahead(about, plain.ids);
    assert.deepEqual(told(made.events), told(plain.events), `seed ${seed}`);
    const { drafted, accepted } = made.asked.figures;
    assert.ok(accepted <= drafted);
    sum.tokens += plain.ids.length;
    sum.steps += made.attempts.length;
    sum.plain += plain.attempts.length;
    sum.drafted += drafted;
    sum.accepted += accepted;
    sum.forced += made.events.filter(({ forced }) => forced).length;
    sum.failed += plain.events.some(({ type }) => type === 'failed') ? 1 : 0;
  }
  // They are replies of some length in which all of it happens.
  assert.ok(sum.tokens > 8 * COUNT && sum.steps < 0.75 * sum.plain && sum.failed < 0.1 * COUNT, JSON.stringify(sum));
  assert.ok(sum.accepted > 0.2 * sum.tokens && sum.forced > 0.1 * sum.tokens, JSON.stringify(sum));
});

test('forced tokens without drafts are those of plain decoding', async () => {
  assert.equal(await differing(200, (about) => replyOf(about)), 0);
  assert.equal(await differing(200, (about) => replyOf(about, { through: (sequence) => new Lookahead(sequence) })), 0);
});

/** Tells of steps that take long, so that drafts pay. @param {any} sequence */
function farAway(sequence) {
  const cache = async (/** @type {number[]} */ tokens, /** @type {any} */ options) => ({
    ...(await sequence.cache(tokens, options)), exchange: 0.05, compute: 0.01,
  });
  return new Proxy(sequence, { get: (target, name) => (name === 'cache' ? cache : Reflect.get(target, name)) });
}

test('with drafts of the chat and of earlier replies, too', async () => {
  const memo = new Memo();
  /** @type {Lookahead[]} */
  const all = [];
  const others = await differing(COUNT / 2, (about) => {
    const through = (/** @type {any} */ sequence) => new Lookahead(farAway(sequence), Drafter.ofChat(memo));
    return replyOf(about, { through }).then((made) => {
      made.asked.ended(about.prompt, made.ids);
      all.push(made.asked);
      return made;
    });
  });
  assert.equal(others, 0);
  assert.ok(all.reduce((sum, { figures }) => sum + figures.accepted, 0) > COUNT / 4);
  assert.ok(all.some(({ figures }) => figures.drafted > figures.accepted));
});

/** Answers each row with the state of the one behind it, as long as there is one. @param {any} sequence */
function oneTooLate(sequence) {
  const cache = async (/** @type {number[]} */ tokens, /** @type {any} */ options) => {
    const extended = await sequence.cache(tokens, options);
    const { states } = extended;
    const width = states.length / options.rows;
    return { ...extended, states: Float32Array.from([...states.slice(width), ...states.slice(-width)]) };
  };
  return new Proxy(sequence, { get: (target, name) => (name === 'cache' ? cache : Reflect.get(target, name)) });
}

test('a row that is taken one too late is found', async () => {
  assert.ok((await differing(50, (about, ids) => ahead(about, ids, oneTooLate))) > 5);
});

test('draws that do not count forced tokens are found', async () => {
  const others = await differing(100, (about) => {
    let draws = 0;
    const sampling = (/** @type {any} */ sampler) => ({
      head: sampler.head,
      params: sampler.params,
      choose: (/** @type {any} */ hidden, /** @type {any} */ prompt, /** @type {any} */ generated, /** @type {any} */ _, /** @type {any} */ allowed) =>
        sampler.choose(hidden, prompt, generated, draws++, allowed),
    });
    return replyOf(about, { sampling });
  });
  assert.ok(others > 5);
});
