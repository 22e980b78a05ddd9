import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadSpec } from '../../src/generation/head_spec.js';
import { paramsFrom } from '../../src/generation/params.js';
import { Sampler } from '../../src/generation/sampler.js';
import { uniform } from '../../src/generation/uniform.js';
import { EchoHead, PlainHead } from './plain_head.js';
import { randomNumbers } from './random.js';

const PROMPT = [5, 6, 7, 7, 599];
const REPLY = [7, 8, 8, 300];
const ROWS = 600;

/** @type {Record<string, Record<string, any>>} */
const PARAMS = {
  greedy: {},
  'greedy with penalties': {
    repetition_penalty: 1.8,
    presence_penalty: 1.5,
    frequency_penalty: -1,
    logit_bias: { 3: 5, 8: -7 },
  },
  'top-k with penalties': {
    temperature: 0.7,
    top_k: 20,
    top_p: 0.9,
    repetition_penalty: 0.8,
    logit_bias: { 9: 3 },
  },
  'top-p': { temperature: 0.8, top_p: 0.9 },
  'min-p': { temperature: 1, min_p: 0.05 },
  'top-p and min-p with penalties': { temperature: 1.2, top_p: 0.95, min_p: 0.01, repetition_penalty: 1.3 },
  'no filter': { temperature: 1 },
};

/** @param {number} seed @param {number} peak @param {number} [rows] */
function logitsOf(seed, peak, rows = ROWS) {
  const random = randomNumbers(seed);
  const logits = Float32Array.from({ length: rows }, () => 4 * random() - 2);
  logits[Math.floor(random() * rows)] += peak;
  return logits;
}

/**
 * The definition: all logits one by one, one sort, the filters one by one.
 * @param {Record<string, any>} fields @param {Float32Array} logits @param {number} draw
 */
function expected(fields, logits, draw) {
  const params = paramsFrom(fields);
  const { temperature, topK, topP, minP, banned } = params;
  const changed = Array.from(logits, (logit, id) => {
    const biased = logit + (params.logitBias.get(id) ?? 0);
    const seen = PROMPT.includes(id) || REPLY.includes(id);
    const penalty = seen ? params.repetitionPenalty : 1;
    const repeated = biased < 0 ? biased * penalty : biased / penalty;
    const count = REPLY.filter((token) => token === id).length;
    return repeated - count * params.frequencyPenalty - (count ? params.presencePenalty : 0);
  });
  let ids = [...changed.keys()].filter((id) => !banned.has(id));
  ids.sort((a, b) => changed[b] - changed[a] || a - b);
  if (temperature === 0) return ids[0];
  if (topK) ids = ids.slice(0, topK);
  let weights = ids.map((id) => Math.exp((changed[id] - changed[ids[0]]) / temperature));
  const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
  const total = sum(weights);
  if (topP < 1) weights = weights.filter((_, i) => sum(weights.slice(0, i)) < topP * total);
  weights = weights.filter((weight) => weight >= minP * weights[0]);
  const bound = uniform(1n, draw) * sum(weights);
  return ids[weights.findIndex((_, i) => sum(weights.slice(0, i + 1)) > bound)];
}

for (const [name, fields] of Object.entries(PARAMS)) {
  for (const share of [0, 0.2, 0.99]) {
    test(`${name}, ${100 * share} percent banned: the token of the definition`, async () => {
      for (let draw = 0; draw < 12; draw++) {
        const logits = logitsOf(draw, draw % 3 ? 9 : 0);
        const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a]);
        const asked = { ...fields, seed: 1, banned: order.slice(0, share * ROWS) };
        for (const slack of [0.001, 0.5, null]) {
          const sampler = new Sampler(new EchoHead(ROWS, { slack }), paramsFrom(asked));
          const { token, probability } = await sampler.choose(logits, PROMPT, REPLY, draw);
          assert.equal(token, expected(asked, logits, draw));
          assert.ok(probability > 0 && probability <= 1);
        }
      }
    });
  }
}

test('with many banned and many left, the token of the definition', async () => {
  const rows = 4_500;
  for (const [name, fields] of Object.entries(PARAMS)) {
    for (let draw = 0; draw < 6; draw++) {
      const logits = logitsOf(draw, draw % 2 ? 9 : 0, rows);
      const banned = [...logits.keys()].filter((id) => logits[id] > 1 || id % 3 === draw % 3);
      const asked = { ...fields, seed: 1, banned };
      for (const slack of [0.001, null]) {
        const sampler = new Sampler(new EchoHead(rows, { slack }), paramsFrom(asked));
        const { token } = await sampler.choose(logits, PROMPT, REPLY, draw);
        assert.equal(token, expected(asked, logits, draw), `${name}, draw ${draw}`);
      }
    }
  }
});

for (const share of [0.002, 0.3, 0.9, 1]) {
  test(`with ${100 * share} percent allowed, the token of the definition`, async () => {
    const rows = 4_500;
    for (const [name, fields] of Object.entries(PARAMS)) {
      for (let draw = 0; draw < 6; draw++) {
        const logits = logitsOf(draw, draw % 2 ? 9 : 0, rows);
        const random = randomNumbers(draw);
        const allowed = Uint8Array.from(logits, () => (random() < share ? 1 : 0));
        allowed[17] = 1;
        for (const banned of [[], [5, 6], [...logits.keys()].filter((id) => id % 3 === 0)]) {
          const asked = { ...fields, seed: 1, banned };
          const others = [...logits.keys()].filter((id) => !allowed[id]);
          const token = expected({ ...asked, banned: [...banned, ...others] }, logits, draw);
          const sampler = new Sampler(new EchoHead(rows), paramsFrom(asked));
          const choice = await sampler.choose(logits, PROMPT, REPLY, draw, allowed);
          assert.equal(choice.token, token, `${name}, draw ${draw}, ${banned.length} banned`);
        }
      }
    }
  });
}

test('a choice among none is refused, and the next one is made all the same', async () => {
  const sampler = new Sampler(new EchoHead(4), paramsFrom({ banned: [1] }));
  const logits = Float32Array.of(0, 3, 1, 2);
  const choose = (/** @type {number[]} */ mask) => sampler.choose(logits, [], [], 0, Uint8Array.from(mask));
  await assert.rejects(choose([0, 1, 0, 0]), { code: 'nothing_allowed' });
  assert.equal((await choose([1, 1, 1, 0])).token, 2);
  assert.equal((await sampler.choose(logits, [], [], 0)).token, 3);
});

test('a peaked draw without top-k needs no more than the first candidates', async () => {
  const head = new EchoHead(ROWS);
  const sampler = new Sampler(head, paramsFrom({ temperature: 0.7, top_p: 0.9, seed: 1 }));
  for (let draw = 0; draw < 30; draw++) await sampler.choose(logitsOf(draw, 14), [], [], draw);
  assert.deepEqual(head.calls, { top: 0, topAndRest: 30, logits: 0 });
});

test('bounds that leave the draw open cost all logits and change nothing', async () => {
  const narrow = new EchoHead(ROWS);
  const open = new EchoHead(ROWS, { slack: 0.9 });
  const params = paramsFrom({ temperature: 1, seed: 3 });
  const samplers = [new Sampler(narrow, params), new Sampler(open, params)];
  for (let draw = 0; draw < 40; draw++) {
    const logits = logitsOf(draw, 0);
    const [one, other] = samplers.map((sampler) => sampler.choose(logits, [], [], draw));
    assert.equal((await one).token, (await other).token);
  }
  assert.ok(open.calls.logits > narrow.calls.logits);
});

test('equal logits go to the lowest id that is allowed', async () => {
  const logits = new Float32Array(ROWS);
  for (const id of [250, 41, 130]) logits[id] = 1;
  const choose = async (/** @type {object} */ fields) =>
    (await new Sampler(new EchoHead(ROWS), paramsFrom(fields)).choose(logits, [], [], 0)).token;
  assert.equal(await choose({}), 41);
  assert.equal(await choose({ banned: [41] }), 130);
  assert.equal(await choose({ temperature: 5e-324, top_p: 0.3 }), 41);
});

test('a seed repeats, another one does not, and none is drawn at random', async () => {
  const logits = logitsOf(1, 0);
  const tokens = async (/** @type {Sampler} */ sampler) => {
    const chosen = [];
    for (let draw = 0; draw < 20; draw++) chosen.push((await sampler.choose(logits, [], [], draw)).token);
    return chosen;
  };
  const sampler = (/** @type {object} */ fields) =>
    new Sampler(new EchoHead(ROWS), paramsFrom({ temperature: 1, ...fields }));
  assert.deepEqual(await tokens(sampler({ seed: 7 })), await tokens(sampler({ seed: 7n })));
  assert.notDeepEqual(await tokens(sampler({ seed: 7 })), await tokens(sampler({ seed: 8 })));
  const random = sampler({});
  assert.notEqual(random.seed, sampler({}).seed);
  assert.deepEqual(await tokens(random), await tokens(sampler({ seed: random.seed })));
});

test('tokens that the head does not have, and nothing left, are refused before anything is computed', () => {
  const head = new EchoHead(10);
  const made = (/** @type {object} */ fields) => () => new Sampler(head, paramsFrom(fields));
  assert.throws(made({ logit_bias: { 10: 1 } }), { code: 'token_id_out_of_range' });
  assert.throws(made({ banned: [10] }), { code: 'token_id_out_of_range' });
  assert.throws(made({ banned: [...Array(10).keys()] }), { code: 'nothing_allowed' });
});

test('a head over weights with bias and cap gives what its logits give', async () => {
  const random = randomNumbers(9);
  const weights = Float32Array.from({ length: ROWS * 8 }, () => random() - 0.5);
  const bias = Float32Array.from({ length: ROWS }, () => random());
  const spec = new HeadSpec({ bias, softcap: 30, scale: 6, divide: true });
  const head = new PlainHead(weights, 8, { spec });
  const hidden = Float32Array.from({ length: 8 }, () => 10 * random() - 5);
  const params = paramsFrom({ temperature: 0.5, top_k: 40, repetition_penalty: 1.2, seed: 4 });
  const logits = await head.logits(hidden);
  for (let draw = 0; draw < 20; draw++) {
    const direct = await new Sampler(head, params).choose(hidden, PROMPT, REPLY, draw);
    const echo = new Sampler(new EchoHead(ROWS), params);
    assert.deepEqual(await echo.choose(logits, PROMPT, REPLY, draw), direct);
  }
});
