import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WIDTH, fragmentsOf, laidOut } from '../../../../src/ui/view/tint/picture/layout.js';
import { svgOf } from '../../../../src/ui/view/tint/picture/svg.js';

const PLAIN = { dim: 0, looked: 0, chosen: false };
const COLOURS = {
  page: '#fff', title: '#777', dim: ['#000', '#333', '#444', '#555'], looked: ['#a', '#b', '#c', '#d'], onStrongest: '#eee',
};
const measure = (/** @type {string} */ text) => 10 * text.length;

test('what no token wrote looks plain, and neighbours that look the same are one fragment', () => {
  const dim = { ...PLAIN, dim: 2 };
  assert.deepEqual(fragmentsOf('abcdef', [{ at: 1, length: 1, ...dim }, { at: 2, length: 2, ...dim }]), [
    { text: 'a', ...PLAIN }, { text: 'bcd', ...dim }, { text: 'ef', ...PLAIN },
  ]);
  assert.deepEqual(fragmentsOf('', []), []);
});

test('words that have no room begin a line, and no word stands beside the picture', () => {
  const text = `${'word '.repeat(60)}\n\nlast`;
  const { words, height, titles } = laidOut([{ title: 'You', fragments: [{ text, ...PLAIN }] }], measure);
  assert.ok(words.every(({ x, width, text: word }) => !word.trim() || x + width <= WIDTH));
  assert.ok(new Set(words.map(({ y }) => y)).size > 4);
  assert.ok(height > Math.max(...words.map(({ y }) => y)));
  assert.deepEqual(titles.map((title) => title.text), ['You']);
});

test('an SVG has the text of the chat, and nothing of it as markup', () => {
  const fragments = [
    { text: '</svg><script>"&', ...PLAIN, looked: 4 }, { text: ' \u0007 so', ...PLAIN, dim: 3 }, { text: ' one', ...PLAIN, chosen: true },
  ];
  const svg = svgOf(laidOut([{ title: '<b>', fragments }], measure), COLOURS);
  assert.ok(svg.includes('&lt;/svg&gt;&lt;script&gt;&quot;&amp;'));
  assert.ok(!/<script|<b>|\u0007/.test(svg));
  assert.ok(svg.includes('fill="#eee"') && svg.includes('fill="#555"') && svg.includes('stroke="#000"'));
});
