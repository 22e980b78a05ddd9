import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatTemplate } from '../../../src/text/template/template.js';
import { spawning } from './spawned.js';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CHATML =
  "{% for m in messages %}<|{{ m.role }}|>{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}<|go|>{% endif %}";

/** @param {string} source @param {number} [seconds] @param {Record<string, unknown>} [variables] */
function opened(source, seconds = 10, variables = {}) {
  const { spawn, counts } = spawning();
  return { template: new ChatTemplate(source, variables, { spawn, seconds }), counts };
}

/** @param {string} source @param {number} [seconds] */
async function codeOf(source, seconds) {
  const { template, counts } = opened(source, seconds);
  const error = await template.render(MESSAGES).then(
    () => null,
    (reason) => reason,
  );
  assert.equal(counts.started, counts.ended);
  return error?.code ?? null;
}

test('a template is read once and rendered in one worker', async () => {
  const { template, counts } = opened(CHATML, 10, { bos_token: '<s>' });
  assert.equal(await template.render(MESSAGES), '<|user|>Hi<|go|>');
  assert.equal(await template.render(MESSAGES, { addGenerationPrompt: false }), '<|user|>Hi');
  assert.deepEqual(counts, { started: 1, ended: 0 });
  template.close();
  assert.equal(counts.ended, 1);
});

test('two texts asked for at once come in their order', async () => {
  const { template } = opened('{{ messages[0].content }}');
  const texts = await Promise.all(
    ['a', 'b', 'c'].map((content) => template.render([{ role: 'user', content }])),
  );
  assert.deepEqual(texts, ['a', 'b', 'c']);
  template.close();
});

test('a template that never ends is killed, and the next text gets a fresh worker', async () => {
  const endless =
    '{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}{% endfor %}';
  const { template, counts } = opened(`{% if messages|length > 1 %}${endless}{% endif %}done`, 0.5);
  await assert.rejects(template.render([...MESSAGES, ...MESSAGES]), { code: 'template_too_costly' });
  assert.deepEqual(counts, { started: 1, ended: 1 });
  template.seconds = 10;
  assert.equal(await template.render(MESSAGES), 'done');
  template.close();
});

test('values that grow without end are stopped', async () => {
  const doubled = (/** @type {string} */ start) =>
    `{% set n = namespace(x=${start}) %}{% for i in range(64) %}{% set n.x = n.x + n.x %}{% endfor %}`;
  assert.equal(await codeOf(doubled("'ab'")), 'template_too_costly');
  assert.equal(await codeOf(doubled('[1, 2]')), 'template_too_costly');
  assert.equal(await codeOf("{{ 'x' * 999999999999 }}"), 'template_too_costly');
  assert.equal(await codeOf('{{ range(100001) }}'), 'template_too_costly');
  assert.equal(
    await codeOf('{% for i in range(99999) %}{{ "x" * 1000 }}{% endfor %}'),
    'template_too_costly',
  );
  assert.equal(await codeOf('{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'), 'template_too_costly');
  assert.equal(await codeOf('{{ 10 ** 10 ** 10 }}'), 'template_failed');
});

test('a template that refuses the messages says so', async () => {
  const { template } = opened("{{ raise_exception('Roles must take turns') }}");
  await assert.rejects(template.render(MESSAGES), {
    code: 'template_failed',
    message: /Roles must take turns/,
  });
});

test('what is no template fails', async () => {
  for (const source of [
    '{% for %}',
    '{{ 1 +',
    '{% unknown %}',
    '{{ x | nofilter }}',
    '{{ missing.name }}',
    '{{ 1 is nothing }}',
  ]) {
    assert.equal(await codeOf(source), 'template_failed', source);
  }
});

test('a template leads to nothing outside it', async () => {
  for (const source of [
    '{{ messages.constructor }}',
    "{{ ''.constructor }}",
    "{{ range.constructor('return 1')() }}",
    '{{ namespace(a=1).__proto__ }}',
    '{{ self }}{{ globalThis }}{{ postMessage }}',
    "{{ messages[0]['__proto__'] }}",
    '{{ {}.hasOwnProperty }}',
  ]) {
    const { template } = opened(source);
    const shown = await template.render(MESSAGES).catch((error) => error.code);
    assert.ok(shown === '' || shown === 'template_failed', `${source}: ${shown}`);
    template.close();
  }
  assert.equal(await codeOf('{{ messages.append(1) }}'), 'template_failed');
  assert.equal(await codeOf('{{ namespace(_a=1) }}'), 'template_failed');
});

test('a template that is too long is refused unread', () => {
  assert.throws(() => new ChatTemplate('x'.repeat((1 << 20) + 1)), { code: 'template_too_costly' });
});

test('closing while a text is awaited ends the wait', async () => {
  const { template } = opened(
    '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
  );
  const text = template.render(MESSAGES);
  await Promise.resolve();
  template.close();
  await assert.rejects(text, { code: 'template_too_costly' });
});

test('a worker that breaks is told apart from a slow one', async () => {
  /** @type {any} */
  const broken = { onmessage: null, onerror: null, terminate() {} };
  broken.postMessage = () => queueMicrotask(() => broken.onerror({}));
  const template = new ChatTemplate('x', {}, { spawn: () => broken });
  await assert.rejects(template.render(MESSAGES), {
    code: 'template_too_costly',
    message: /ended by itself/,
  });
});
