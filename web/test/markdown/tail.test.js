import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
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
  for (const text of ['**bar', '**bar*', '**bar**', '**bar ']) {
    assert.deepEqual(live(`foo ${text}`), [p(t('foo '), strong)]);
  }
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
  for (const mark of ['**', '*', '`', '~', '\\', '[', '[bar', '[bar]', '![', '_']) {
    assert.equal(plainText(live(`foo ${mark}`)), 'foo', mark);
  }
  assert.equal(plainText(live('foo [bar](https://exa')), 'foo bar');
  assert.equal(plainText(parseMarkdown('foo **')), 'foo **');
});

test('what may open a block is held back until it is known', () => {
  for (const mark of ['-', '--', '=', '#', '1', '1.', '>', '``', '\n*', '\n+ ']) {
    assert.deepEqual(live(`a\n${mark}`), [p(t('a'))], mark);
  }
  assert.deepEqual(live('- '), []);
  assert.equal(/** @type {any} */ (live('- [x] a')[0]).items[0].checked, true);
});

test('a table is shown once it is one', () => {
  for (const text of ['| a | b', '| a | b |\n', '| a | b |\n|--', '| a | b |\n|---|---|']) {
    assert.deepEqual(live(text), []);
  }
  assert.equal(live('| a | b |\n|---|---|\n')[0].type, 'table');
  assert.equal(live('|x| is a norm, as one says\n\nand')[0].type, 'paragraph');
});

test('emphasis that never closes is text in the end', () => {
  assert.equal(plainText(live('**never closed')), 'never closed');
  assert.equal(plainText(parseMarkdown('**never closed')), '**never closed');
});

const REPLIES = new URL('./replies/', import.meta.url);
const files = readdirSync(REPLIES);
assert.ok(files.length >= 6);

for (const file of files) {
  test(`nothing that was shown is taken back while this streams: ${file}`, () => {
    const reply = readFileSync(new URL(file, REPLIES), 'utf8').trimEnd();
    const whole = parseMarkdown(reply);
    const letters = visible(whole);
    for (let length = 1; length <= reply.length; length += 1) {
      const begun = reply.slice(0, length);
      const blocks = live(begun);
      assert.ok(letters.startsWith(visible(blocks)), JSON.stringify([begun, visible(blocks)]));
      const kinds = whole.slice(0, blocks.length).map((block) => block.type);
      assert.deepEqual(blocks.map((block) => block.type), kinds, begun);
    }
    assert.deepEqual(live(`${reply}\n\n`), whole);
  });
}

/** What is seen, without the space between. @param {any[]} blocks */
function visible(blocks) {
  return blocks.map((block) => plainText([block])).join('\n').replace(/[\s|]+/g, '');
}
