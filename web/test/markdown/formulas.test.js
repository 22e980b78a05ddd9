import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMarkdown } from '../../src/markdown/markdown.js';
import { nodesIn, p, plainText, t } from './trees.js';

/** @param {string} tex */
const inline = (tex) => ({ type: 'formula', tex, display: false, open: false });
/** @param {string} tex */
const display = (tex) => ({ type: 'formula', tex, display: true, open: false });
/** @param {any} tree @returns {string[]} */
const texIn = (tree) => [...nodesIn(tree)].filter(({ type }) => type === 'formula').map(({ tex }) => tex);

test('a formula within a line keeps every one of its characters', () => {
  assert.deepEqual(parseMarkdown('Since \\(a_1 \\, b_2 * c * d\\) and $\\{x\\}^2_i$ hold,'), [
    p(t('Since '), inline('a_1 \\, b_2 * c * d'), t(' and '), inline('\\{x\\}^2_i'), t(' hold,')),
  ]);
});

test('a formula on lines of its own may hold what is markdown elsewhere', () => {
  const tex = '- a \\\\\n# b\n\n| c |\n= d \\\\[2pt]\n> e';
  assert.deepEqual(parseMarkdown(`Then\n\\[\n${tex}\n\\]\nfollows.`), [p(t('Then')), display(tex), p(t('follows.'))]);
  assert.deepEqual(parseMarkdown('$$\nx\n= 3\n$$.'), [display('x\n= 3.')]);
  assert.deepEqual(parseMarkdown('$$x^2$$'), [display('x^2')]);
  const lines = '\\begin{align*}\na &= b \\\\\n&= c\n\\end{align*}';
  assert.deepEqual(parseMarkdown(`So:\n${lines}\n`), [p(t('So:')), display(lines)]);
});

test('formulas stand in lists, tables, quotes, headings and emphasis', () => {
  const list = /** @type {any} */ (parseMarkdown('1. one\n\n   \\[\n   a\n   \\]\n2. **$b$**\n\\[\nc\n\\]'));
  assert.deepEqual(texIn(list).sort(), ['a', 'b', 'c']);
  assert.equal(list[0].items.length, 2);
  const [table] = /** @type {any} */ (parseMarkdown('| $|x|$ | b |\n|---|---|\n| \\(\\frac{1}{2}\\) | `$c$` |'));
  assert.deepEqual(table.header[0], [inline('|x|')]);
  assert.deepEqual(table.rows[0], [[inline('\\frac{1}{2}')], [{ type: 'code', text: '$c$' }]]);
  assert.deepEqual(parseMarkdown('> $$\n> a\n> b\n> $$'), [{ type: 'quote', children: [display('a\nb')] }]);
  assert.deepEqual(parseMarkdown('# $x$ again'), [
    { type: 'heading', level: 1, children: [inline('x'), t(' again')] },
  ]);
});

test('amounts of money, paths and code are no formulas', () => {
  for (const text of [
    'It costs $5 and not $10.',
    'from $5 to $10 a month',
    'between $5/month and 10$.',
    '$HOME/bin:$PATH',
    'US$5 or A$6',
    'a \\$ and b \\$',
    '$ x $',
    '\\( \\)',
  ]) {
    assert.deepEqual(texIn(parseMarkdown(text)), [], text);
  }
  assert.equal(plainText(parseMarkdown('`\\(a\\)` and `` $b$ ``')), '\\(a\\) and $b$');
  assert.deepEqual(texIn(parseMarkdown('```tex\n\\[ a \\]\n$$\n```\n\n    $c$')), []);
  const [{ children }] = /** @type {any} */ (parseMarkdown('[x](https://a.b/$c$/d) https://a.b/$c$'));
  assert.equal(children[0].href, 'https://a.b/$c$/d');
});

test('what never ends is text, with all that follows', () => {
  assert.deepEqual(texIn(parseMarkdown('\\[\na\n\nb\n\n# c')), []);
  assert.equal(/** @type {any} */ (parseMarkdown('\\[\na\n\n# c'))[1].type, 'heading');
  assert.deepEqual(texIn(parseMarkdown('$$5 is little\n\nand $$6 more')), []);
  assert.deepEqual(texIn(parseMarkdown(`\\(${'a'.repeat(2000)}\\)`)), []);
});

test('characters for private use stay what they are', () => {
  const text = 'a \ue000 b \ue001 \uf8ff';
  assert.equal(plainText(parseMarkdown(text)), text);
  assert.deepEqual(parseMarkdown('\ue000 $x$ \ue001'), [p(t('\ue000 '), inline('x'), t(' \ue001'))]);
});

test('while it grows a formula is its source, and then a formula', () => {
  const text = 'So \\(a_1 * b_2\\) and\n\\[\nx\n\n- y\n\\]\ndone';
  for (let length = 5; length < text.length; length += 1) {
    const blocks = /** @type {any[]} */ (parseMarkdown(text.slice(0, length), { streaming: true }));
    for (const node of nodesIn(blocks)) {
      assert.ok(!['em', 'strong', 'list', 'link'].includes(node.type), text.slice(0, length));
      if (node.type === 'formula') assert.equal(node.open, !/^(?:a_1 \* b_2|x\n\n- y)$/.test(node.tex), node.tex);
    }
  }
  const [{ children }] = /** @type {any} */ (parseMarkdown('So \\(a_1 * b', { streaming: true }));
  assert.deepEqual(children, [t('So '), { type: 'formula', tex: '\\(a_1 * b', display: false, open: true }]);
  assert.deepEqual(parseMarkdown('\\[\na', { streaming: true }), [{ type: 'formula', tex: '\\[\na', display: true, open: true }]);
});

test('delimiters without an end cost no more than the text is long', () => {
  for (const piece of ['\\(', '\\[', '\\[\n', '$$a\n', '$a', ' $a', '`$', '$$', '\\begin{align}\n', '\\[\na\n\n', ' \\(a `', '\ue000']) {
    const text = piece.repeat(Math.floor(100_000 / piece.length));
    const started = performance.now();
    parseMarkdown(text);
    parseMarkdown(text, { streaming: true });
    assert.ok(performance.now() - started < 3000, JSON.stringify(piece));
  }
});
