// Samples on request of another language. JSON on stdin: {"cases": [{params, logits (base64 of f32), slack,
// prompt, generated, draws}]}; on stdout, for each case, its choices [[token, probability], ...] and the
// calls of the head. Every token chosen becomes part of the reply.
import { readFileSync } from 'node:fs';
import { paramsFrom } from '../../../src/generation/params.js';
import { Sampler } from '../../../src/generation/sampler.js';
import { EchoHead } from '../../generation/plain_head.js';

/** @param {any} request */
async function chosen({ params, logits, slack, prompt, generated, draws }) {
  const bytes = Uint8Array.from(Buffer.from(logits, 'base64'));
  const hidden = new Float32Array(bytes.buffer);
  const head = new EchoHead(hidden.length, { slack });
  const sampler = new Sampler(head, paramsFrom(params));
  const reply = [...generated];
  const choices = [];
  for (let draw = 0; draw < draws; draw++) {
    const { token, probability } = await sampler.choose(hidden, prompt, reply, draw);
    choices.push([token, probability]);
    reply.push(token);
  }
  return { choices, calls: head.calls };
}

const { cases } = JSON.parse(readFileSync(0, 'utf8'));
const answers = [];
for (const request of cases) answers.push(await chosen(request));
process.stdout.write(JSON.stringify(answers));
