// Replies in a form that look ahead are those of plain decoding, and have the form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../src/generation/loop.js';
import { paramsFrom } from '../../src/generation/params.js';
import { Sampler } from '../../src/generation/sampler.js';
import { Lookahead } from '../../src/generation/speculation/lookahead.js';
import { FormConstraint } from '../../src/grammar/forms.js';
import { FormServer } from '../../src/grammar/server.js';
import { Sequence } from '../../src/session/sequence.js';
import { PlainHead } from '../generation/plain_head.js';
import { randomNumbers } from '../generation/random.js';
import { ScriptedBackend } from '../generation/scripted_backend.js';
import { caseOf, guessing, told } from '../generation/speculation/scripted.js';

const COUNT = process.env.GATELINK_EXHAUSTIVE ? 2000 : 120;
/** Of caseOf's 20 ids; the first ends a reply. */
const TEXTS = ['', '{"', 'a', 'b', '": ', '":', '"', ' ', '", ', '"}', '}', '[', ']', ', ', '1', '2', 'tr', 'ue', ': ', 'ab'];
const schema = (/** @type {object} */ value) =>
  /** @type {import('../../types/gatelink').Form} */ ({ kind: 'json_schema', text: JSON.stringify(value) });
const TAGS = { type: 'array', items: { enum: ['a', 'ab', 'bb'] }, maxItems: 3 };
const FORMS = [
  schema({ type: 'object', properties: { ab: { type: 'boolean', const: true }, b: TAGS }, required: ['ab'], additionalProperties: false }),
  schema({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 22, enum: [1, 2, 11, 12, 21, 22] } }),
  { kind: /** @type {const} */ ('regex'), text: '(a|bb)+(, [12]{1,3})*' },
  { kind: /** @type {const} */ ('choice'), texts: ['ab ab', 'a1', 'b2b'] },
];

const offsets = new Uint32Array(TEXTS.length + 1);
TEXTS.forEach((text, id) => (offsets[id + 1] = offsets[id] + text.length));
const bytes = Uint8Array.from([...TEXTS.join('')], (unit) => unit.charCodeAt(0));

/** @param {import('../../types/gatelink').Form} form @param {boolean} telling whether forced tokens are told */
async function constraintOf(form, telling) {
  /** @type {Map<number, (answer: any) => void>} */
  const waiting = new Map();
  const server = new FormServer((answer) => {
    if ('encode' in answer) void server.receive({ type: 'encoded', ids: null });
    else waiting.get(answer.id)?.(answer);
  }, () => {});
  let last = 0;
  const ask = async (/** @type {any} */ question) => {
    const id = ++last;
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    void server.receive({ ...question, id });
    const answer = /** @type {any} */ (await answered);
    if ('error' in answer) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
    return answer.result;
  };
  await ask({ type: 'vocabulary', bytes, offsets, eos: [0], strips: false });
  await ask({ type: 'begin', form });
  const constraint = new FormConstraint(ask);
  if (!telling) constraint.forced = async () => [];
  return constraint;
}

/** @param {number} seed @param {{telling: boolean, ahead?: number[]}} how */
async function replyOf(seed, { telling, ahead }) {
  const { prompt, params: { banned: _, ...params }, limits, session, head } = caseOf(seed);
  const backend = Object.assign(new ScriptedBackend(session, { memory: [1, 0.5], bytes: TEXTS }), { interactiveRows: 16 });
  const sequence = new Sequence(backend, async (tokens, start, stop) => {
    const rows = new Float32Array((stop - start) * TEXTS.length);
    for (let at = start; at < stop; at++) rows[(at - start) * TEXTS.length + tokens[at]] = 1;
    return rows;
  });
  const sampler = new Sampler(new PlainHead(head, TEXTS.length), paramsFrom(params));
  const constraint = await constraintOf(FORMS[seed % FORMS.length], telling);
  const asked = ahead ? new Lookahead(sequence, guessing([...prompt, ...ahead], randomNumbers(seed))) : sequence;
  const detokenizer = { push: (/** @type {number} */ token) => TEXTS[token], flush: () => '' };
  const events = [];
  try {
    for await (const event of decode(asked, sampler, detokenizer, prompt, { ...limits, stops: [] }, { constraint, later: () => () => {} })) {
      events.push(event);
    }
  } catch (error) {
    events.push({ type: 'failed', code: /** @type {any} */ (error).code ?? String(error) });
  }
  const all = /** @type {any[]} */ (events);
  return { events: all, attempts: backend.attempts.length, ids: all.flatMap(({ type, token }) => (type === 'token' ? [token] : [])) };
}

test('seeded replies in a form are the same with forced tokens and drafts as token by token, and whole', async () => {
  const sum = { tokens: 0, plain: 0, steps: 0, forced: 0, whole: 0 };
  for (let seed = 0; seed < COUNT; seed++) {
    const plain = await replyOf(seed, { telling: false });
    const made = await replyOf(seed, { telling: true, ahead: plain.ids });
    assert.deepEqual(told(made.events), told(plain.events), `seed ${seed}`);
    const last = made.events.at(-1);
    if (last.reason === 'stop' || last.reason === 'eos') {
      const text = made.events.map(({ text }) => text).join('');
      if (FORMS[seed % FORMS.length].kind === 'json_schema') JSON.parse(text);
      sum.whole += 1;
    }
    sum.tokens += plain.ids.length;
    sum.plain += plain.attempts;
    sum.steps += made.attempts;
    sum.forced += made.events.filter(({ forced }) => forced).length;
  }
  assert.ok(sum.forced > 0.2 * sum.tokens && sum.steps < 0.6 * sum.plain && sum.whole > 0.6 * COUNT, JSON.stringify(sum));
});
