import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mathml } from '../../../src/markdown/rendering/mathml.js';
import { nodesIn } from '../trees.js';

/** @param {any} tree @returns {string[]} */
const names = (tree) => [...nodesIn(tree)].map(({ name }) => name).filter(Boolean);

test('TeX becomes MathML', () => {
  const tree = mathml('\\frac{a}{\\sqrt{b}} \\,', true);
  assert.equal(tree?.name, 'math');
  assert.equal(tree?.attributes.display, 'block');
  for (const name of ['mfrac', 'msqrt', 'mi']) assert.ok(names(tree).includes(name), name);
  assert.equal(mathml('x_1', false)?.attributes.display, undefined);
});

test('what is no TeX is null, and soon', () => {
  const started = performance.now();
  const endless = ['\\def\\a{\\a\\a}\\a', '{'.repeat(4000), '\\sqrt'.repeat(800), '\\left('.repeat(600), 'x'.repeat(20_000)];
  for (const tex of ['\\frac', '\\nosuch', '}', ...endless]) assert.equal(mathml(tex, true), null, tex.slice(0, 20));
  assert.ok(performance.now() - started < 5000);
});

test('no command brings in links, pictures, classes, styles or other elements', () => {
  for (const tex of [
    '\\href{javascript:alert(1)}{x}',
    '\\url{https://a.b}',
    '\\includegraphics{https://a.b/c.png}',
    '\\class{toasts}{x}',
    '\\id{app}{x}',
    '\\style{position:fixed}{x}',
    '\\data{a=b}{x}',
    '\\color{red;background:url(x)}x',
  ]) {
    assert.equal(mathml(tex, true), null, tex);
  }
  const tree = mathml('\\text{<img src=x onerror=alert(1)>} \\cancel{x} \\color{#f00}y \\rule{900em}{900em}', true);
  for (const { name, attributes, style } of nodesIn(tree)) {
    if (!name) continue;
    assert.match(name, /^m[a-z]+$/);
    const values = [...Object.entries(attributes), ...Object.entries(style)];
    for (const [key, value] of values) assert.ok(!/^(?:on|href|src|id)/.test(key) && !/url|script/i.test(value), key);
    assert.ok(!/^\d{3}/.test(attributes.width ?? ''), 'as wide as a page at most');
  }
});
