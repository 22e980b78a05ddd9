import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '../../src/markdown/markdown.js';
import { plainText, p, t } from './trees.js';

/** @param {string} text */
const live = (text) => parseMarkdown(text, { streaming: true });

test('code whose fence is open is code already', () => {
  assert.deepEqual(live('a\n\n```py\nx = 1\n\ny'), [
    p(t('a')),
    { type: 'code', lang: 'py', text: 'x = 1\n\ny', open: true },
  ]);
});

test('neither half a language nor half a closing fence is shown', () => {
  assert.deepEqual(live('```pyth'), [{ type: 'code', lang: '', text: '', open: true }]);
  assert.deepEqual(live('```python\n'), [{ type: 'code', lang: 'python', text: '', open: true }]);
  assert.deepEqual(live('```\nx\n``'), [{ type: 'code', lang: '', text: 'x', open: true }]);
  assert.deepEqual(live('```\nx\n```'), [{ type: 'code', lang: '', text: 'x', open: false }]);
});

test('open emphasis and code are shown as if they closed here', () => {
  const strong = { type: 'strong', children: [t('bar')] };
  for (const text of ['**bar', '**bar*', '**bar**', '**bar ']) assert.deepEqual(live(`foo ${text}`), [p(t('foo '), strong)]);
  assert.deepEqual(live('`a *b'), [p({ type: 'code', text: 'a *b' })]);
  assert.deepEqual(live('**a `b'), [p({ type: 'strong', children: [t('a '), { type: 'code', text: 'b' }] })]);
  assert.deepEqual(live('~~a'), [p({ type: 'strike', children: [t('a')] })]);
});

test('marks that are none are not taken for emphasis', () => {
  for (const text of ['2 * 3', 'snake_case', 'a * b * c', '5*4', '\\*a', 'a\\_b', '`*a` b']) {
    assert.equal(plainText(live(text)), plainText(parseMarkdown(text)), text);
    assert.deepEqual(live(text), parseMarkdown(text));
  }
});

test('a mark with nothing behind it yet is held back', () => {
  for (const text of ['foo **', 'foo *', 'foo `', 'foo ~', 'foo \\', 'foo [', 'foo [bar', 'foo [bar]', 'foo ![', 'foo _']) {
    assert.equal(plainText(live(text)), 'foo', text);
  }
  assert.equal(plainText(live('foo [bar](https://exa')), 'foo bar');
  assert.equal(plainText(parseMarkdown('foo **')), 'foo **');
});

test('what may open a block is held back until it is known', () => {
  for (const text of ['a\n-', 'a\n--', 'a\n=', 'a\n#', 'a\n1', 'a\n1.', 'a\n>', 'a\n``', 'a\n\n*', 'a\n\n+ ']) {
    assert.deepEqual(live(text), [p(t('a'))], text);
  }
  assert.deepEqual(live('- '), []);
  assert.equal(/** @type {any} */ (live('- [x] a')[0]).items[0].checked, true);
});

test('a table is shown once it is one', () => {
  for (const text of ['| a | b', '| a | b |\n', '| a | b |\n|--', '| a | b |\n|---|---|']) assert.deepEqual(live(text), []);
  assert.equal(live('| a | b |\n|---|---|\n')[0].type, 'table');
  assert.equal(live('|x| is a norm, as one says\n\nand')[0].type, 'paragraph');
});

test('emphasis that never closes is text in the end', () => {
  assert.equal(plainText(live('**never closed')), 'never closed');
  assert.equal(plainText(parseMarkdown('**never closed')), '**never closed');
});

const REPLIES = {
  prose: 'Split inference **keeps the ends** on your device: the *tokenizer*, the `embedding` and the ~~middle~~ head.\n\nIt costs `2 * hidden_size` bytes; see [the docs](https://example.org/docs) and __notes__.',
  list: 'Steps:\n\n1. First **bold** step\n   - inner `code`\n   - inner *two*\n2. Second\n\n   with a paragraph\n\n- [ ] open\n- [x] done\n\nThat is all.',
  code: 'Run:\n\n```sh\nfor x in *; do\n  echo "$x" # `no`\ndone\n```\n\nand then\n\n~~~\n**not bold**\n~~~\nDone.',
  table: 'Here:\n\n| name | value |\n|:-----|------:|\n| *a* | `1` |\n| **b** | 2 |\n\nEnd of *it*.',
  headings: '# One\n\nText under one.\n\n## Two **strong**\n\n> quoted *words*\n> and more\n\n---\n\nLast line',
  languages: 'Hier ist **fett gedruckt** und *kursiv*.\n\n- 東京は**日本**の首都です。\n- Привет, _мир_!\n- مرحبا **بالعالم**',
};

for (const [what, reply] of Object.entries(REPLIES)) {
  test(`nothing that was shown is taken back while this streams: ${what}`, () => {
    const whole = parseMarkdown(reply);
    const letters = visible(whole);
    for (let length = 1; length <= reply.length; length += 1) {
      const blocks = live(reply.slice(0, length));
      assert.ok(letters.startsWith(visible(blocks)), JSON.stringify([reply.slice(0, length), visible(blocks)]));
      const kinds = blocks.map((block) => block.type);
      assert.deepEqual(kinds, whole.map((block) => block.type).slice(0, kinds.length), reply.slice(0, length));
    }
    assert.deepEqual(live(`${reply}\n\n`), whole);
  });
}

/** What is seen, without the space between. @param {any[]} blocks */
function visible(blocks) {
  return blocks.map((block) => plainText([block])).join('\n').replace(/[\s|]+/g, '');
}
