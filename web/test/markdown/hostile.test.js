import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LONGEST_TEXT, parseMarkdown } from '../../src/markdown/markdown.js';
import { depthOf, nodesIn, p, plainText, t } from './trees.js';

const KEYS = {
  text: ['text'],
  strong: ['children'],
  em: ['children'],
  strike: ['children'],
  link: ['href', 'children'],
  break: [],
  paragraph: ['children'],
  heading: ['level', 'children'],
  code: ['lang', 'text', 'open'],
  list: ['ordered', 'start', 'tight', 'items'],
  table: ['align', 'header', 'rows'],
  quote: ['children'],
  rule: [],
  formula: ['tex', 'display', 'open'],
};

/** Only the kinds that a view knows, with nothing that it would not expect. @param {any[]} blocks */
function assertHarmless(blocks) {
  for (const node of nodesIn(blocks)) {
    if (!('type' in node)) {
      assert.deepEqual(Object.keys(node), ['checked', 'children']);
      continue;
    }
    const known = /** @type {Record<string, string[]>} */ (KEYS)[node.type];
    assert.ok(known, node.type);
    for (const key of Object.keys(node)) {
      assert.ok(key === 'type' || known.includes(key), `${node.type}.${key}`);
    }
    if (node.type === 'link') assert.match(node.href, /^(?:https?:\/\/[^/]|mailto:)/);
    if ('text' in node) assert.equal(typeof node.text, 'string');
  }
}

// Vectors after OWASP's cheat sheet on filter evasion, and tricks of markdown; tests/web shows them in a
// browser.
/** @type {string[]} */
const SCRIPTS = JSON.parse(readFileSync(new URL('./scripts.json', import.meta.url), 'utf8'));

for (const source of SCRIPTS) {
  test(`stays text: ${JSON.stringify(source)}`, () => {
    const whole = parseMarkdown(source);
    assertHarmless(whole);
    assert.ok(plainText(whole).trim());
    // As it arrives, letter by letter.
    for (let length = 1; length < source.length; length += 1) {
      assertHarmless(parseMarkdown(source.slice(0, length), { streaming: true }));
    }
  });
}

test('script stays readable to the letter', () => {
  assert.equal(plainText(parseMarkdown('<script>alert(1)</script>')), '<script>alert(1)</script>');
  const image = 'a <img src=x onerror=alert(1)> b';
  assert.equal(plainText(parseMarkdown(image)), image);
  assert.equal(plainText(parseMarkdown('[x](javascript:alert(1))')), '[x](javascript:alert(1))');
});

/** A reproducible generator (Marsaglia's xorshift32). @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const PIECES = [
  '\\(',
  '\\)',
  '\\[\n',
  '\\]',
  ...'$$*_`~[]()<>!#-+|>\\&;:"\'\n\n\n  \tab1.',
  '<script>',
  '</script>',
  'javascript:',
  'https://a.b/',
  '```',
  '- ',
  '> ',
  '1. ',
  '|-|\n',
  '&#x3c;',
  'onerror=',
  '\u0000',
  '👍',
  '\ud800',
];

test('random mixtures of marks are harmless, whole and as they stream', () => {
  const pick = random(20240607);
  for (let round = 0; round < 1500; round += 1) {
    const source = Array.from({ length: 1 + pick(60) }, () => PIECES[pick(PIECES.length)]).join('');
    assertHarmless(parseMarkdown(source));
    assertHarmless(parseMarkdown(source, { streaming: true }));
  }
});

const MEGABYTE = 1 << 20;
const COSTLY = [
  '[',
  ']',
  '*',
  '* ',
  '> ',
  '- ',
  '1. ',
  '_a',
  'a*',
  '**a ',
  '`a',
  '`',
  '~',
  '<',
  '![',
  '[a](',
  '[a][',
  '\\',
  '|',
  '|a|\n|-|\n',
  '- a\n',
  '> a\n',
  '> - ',
  '```\n',
  '*a _b [c\n',
  'a*b_c`d\n\n',
  '&lt;',
  'www.a.b ',
  'a@b.c ',
  'http://',
  '# ',
  '\n',
  ' ',
  '\t',
  '=\n',
  'a  \n',
  '[a]: b\n',
];

// A parse that grew with the square of its input would take minutes; the bound leaves room for slow machines.
for (const piece of COSTLY) {
  test(`a megabyte of ${JSON.stringify(piece)} is read in time, whole and as it streams`, () => {
    const source = piece.repeat(Math.floor(MEGABYTE / piece.length));
    const before = process.cpuUsage();
    const blocks = parseMarkdown(source);
    parseMarkdown(source, { streaming: true });
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 1e6 < 8, `${(user + system) / 1e6} s`);
    assert.ok(depthOf(blocks) < 100);
  });
}

test('containers within containers end at a depth and lose nothing of their text', () => {
  const stairs = Array.from({ length: 60 }, (_, index) => `${'  '.repeat(index)}- word${index}`).join('\n');
  const blocks = parseMarkdown(stairs);
  assert.ok(depthOf(blocks) < 50);
  assert.match(plainText(blocks), /word0[^]*word59/);
  const quotes = parseMarkdown(`${'> '.repeat(5000)}deep`);
  assert.ok(depthOf(quotes) < 50);
  assert.match(plainText(quotes), /deep/);
});

test('emphasis within emphasis ends at a depth', () => {
  const source = `${'*a **b '.repeat(200)}core${' c** d*'.repeat(200)}`;
  assert.ok(depthOf(parseMarkdown(source)) < 50);
});

test('a mixture that marked fails on is shown as it was written', () => {
  assert.equal(plainText(parseMarkdown('- "\n\t>1.\n=')), '- "\n\t>1.\n=');
});

test('a text beyond the longest is shown as it was written', () => {
  const source = '*a* '.repeat(LONGEST_TEXT / 4 + 1);
  assert.deepEqual(parseMarkdown(source), [p(t(source))]);
});
