import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '../../src/markdown/markdown.js';
import { plainText, t, p } from './trees.js';

/** @param {string} text */
const inline = (text) => /** @type {any} */ (parseMarkdown(text)[0]).children;

test('the blocks of CommonMark and of tables become plain objects', () => {
  assert.deepEqual(parseMarkdown('## Hi\n\none\n\n---\n\n> said'), [
    { type: 'heading', level: 2, children: [t('Hi')] },
    p(t('one')),
    { type: 'rule' },
    { type: 'quote', children: [p(t('said'))] },
  ]);
  assert.deepEqual(parseMarkdown('| a | b |\n|:--|--:|\n| 1 | `2` |'), [
    {
      type: 'table',
      align: ['left', 'right'],
      header: [[t('a')], [t('b')]],
      rows: [[[t('1')], [{ type: 'code', text: '2' }]]],
    },
  ]);
});

test('lists have items, tasks, numbers and lists within', () => {
  const items = [{ checked: null, children: [p(t('b'))] }];
  const nested = { type: 'list', ordered: false, start: 1, tight: true, items };
  assert.deepEqual(parseMarkdown('3. a\n   - b\n4. [x] c'), [
    {
      type: 'list',
      ordered: true,
      start: 3,
      tight: true,
      items: [
        { checked: null, children: [p(t('a')), nested] },
        { checked: true, children: [p(t('c'))] },
      ],
    },
  ]);
  assert.equal(/** @type {any} */ (parseMarkdown('- a\n\n- b')[0]).tight, false);
});

test('emphasis, code, breaks and escapes', () => {
  assert.deepEqual(inline('**a** *b* ~~c~~ `d*` \\*e\\*'), [
    { type: 'strong', children: [t('a')] },
    t(' '),
    { type: 'em', children: [t('b')] },
    t(' '),
    { type: 'strike', children: [t('c')] },
    t(' '),
    { type: 'code', text: 'd*' },
    t(' *e*'),
  ]);
  assert.deepEqual(inline('a\nb'), [t('a'), { type: 'break' }, t('b')]);
  assert.deepEqual(inline('snake_case_name 2 * 3 * 4'), [t('snake_case_name 2 * 3 * 4')]);
});

test('code keeps its text to the letter and shows a language that is a word', () => {
  const source = '<b>&amp;</b>\n\t*x*  ';
  assert.deepEqual(parseMarkdown(`\`\`\`c++ "evil\n${source}\n\`\`\``), [
    { type: 'code', lang: 'c++', text: source, open: false },
  ]);
  assert.equal(/** @type {any} */ (parseMarkdown('```<script>\nx')[0]).lang, '');
});

test('links are followed where they lead to the web, and pictures are links', () => {
  assert.deepEqual(inline('[a *b*](https://x.org "t")'), [
    { type: 'link', href: 'https://x.org/', children: [t('a '), { type: 'em', children: [t('b')] }] },
  ]);
  assert.deepEqual(inline('![alt](https://x.org/p.png)'), [
    { type: 'link', href: 'https://x.org/p.png', children: [t('alt')] },
  ]);
  assert.deepEqual(inline('<https://x.org> a@x.org')[0].href, 'https://x.org/');
  assert.equal(inline('see a@x.org')[1].href, 'mailto:a@x.org');
  assert.equal(inline('[a](https://x.org?a=1&amp;b=2)')[0].href, 'https://x.org/?a=1&b=2');
});

test('targets elsewhere in the text are no links, and nothing of them vanishes', () => {
  const blocks = parseMarkdown('[a][1]\n\n[1]: javascript:alert(1)');
  assert.equal(plainText(blocks), '[a][1]\n[1]: javascript:alert(1)');
});

test('blocks that have not changed are the same objects', () => {
  const before = parseMarkdown('# a\n\nb **c**\n\n- d\n\n```\ne\n```\n\nf', { streaming: true });
  const after = parseMarkdown('# a\n\nb **c**\n\n- d\n\n```\ne\n```\n\nf g', { streaming: true });
  for (let index = 0; index < 4; index += 1) assert.equal(after[index], before[index]);
  assert.notEqual(after[4], before[4]);
  const ended = parseMarkdown('# a\n\nb **c**\n\n- d\n\n```\ne\n```\n\nf g');
  assert.equal(ended[4], after[4]);
});

test('control characters are not shown', () => {
  assert.equal(plainText(parseMarkdown('a\u0000b\u001b[31mc\u009b')), 'ab[31mc');
});
