import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerTo, Template } from '../../../src/text/template/renderer.js';

const NOON = () => new Date(2024, 6, 4, 9, 5, 6);

/** @param {string} source @param {Record<string, unknown>} [variables] */
function shown(source, variables = {}) {
  return new Template(source).render(variables, NOON);
}

/** @param {[string, string][]} cases source, text of Jinja */
function check(cases) {
  for (const [source, expected] of cases) assert.equal(shown(source), expected, source);
}

test('values are written as Python writes them', () => {
  check([
    ['{{ none }} {{ true }} {{ 1.0 }} {{ 0.00001 }}', 'None True 1.0 1e-05'],
    ["{{ [1, 'a', \"it's\", {'k': (1, 2)}] }}", "[1, 'a', \"it's\", {'k': (1, 2)}]"],
    ["{{ 'a\\nb' }}|{{ ['a\\nb'] }}", "a\nb|['a\\nb']"],
    ['{{ missing }}|{{ missing or 1 }}', '|1'],
    ['{{ 7 // -2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 3 }}', '-4 2 3.5 8'],
  ]);
});

test('comparisons are those of Python', () => {
  check([
    ["{{ 1 == '1' }} {{ missing == none }} {{ [1] == [1] }} {{ 1 == true }}", 'False False True True'],
    [
      "{{ {'a': 1} == {'a': 1} }} {{ 'b' in {'b': 1} }} {{ 2 not in [1] }} {{ 1 in missing }}",
      'True True True False',
    ],
  ]);
});

test('each turn of a loop has names of its own', () => {
  check([
    ['{% for i in [1, 2] %}{% if i == 1 %}{% set x = i %}{% endif %}[{{ x }}]{% endfor %}{{ x }}', '[1][]'],
    ['{% for i in [1, 2, 3] if i != 2 %}{{ loop.index }}/{{ loop.length }} {% endfor %}', '1/2 2/2 '],
    ['{% for i in [] %}x{% else %}none{% endfor %}', 'none'],
    [
      '{% for i in [1, 2, 3] %}{{ i }}{% if i == 2 %}{% break %}{% endif %},{% else %}never{% endfor %}',
      '1,2',
    ],
    ['{% for c in "aé😀" %}{{ loop.cycle("x", "y") }}{{ c }}{% endfor %}', 'xayéx😀'],
    ['{% for i in range(2) %}{% for j in range(2) %}{{ loop.depth }}{% endfor %}{% endfor %}', '2222'],
  ]);
});

test('methods take their arguments', () => {
  check([
    ["{{ '\\n a\\n'.lstrip('\\n') }}|", ' a\n|'],
    [
      "{{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a  b '.split() }}",
      "['a', 'b,c'] ['a,b', 'c'] ['a', 'b']",
    ],
    [
      "{{ 'aaa'.replace('a', 'b', 2) }} {{ 'x'.join(['1', '2']) }} {{ 'Ab'.startswith(('x', 'A')) }}",
      'bba 1x2 True',
    ],
    ["{{ '😀a'|length }} {{ '😀a'[0] }} {{ 'abcd'[-3:-1] }} {{ 'abc'[::-1] }}", '2 😀 bc cba'],
    ["{{ {'items': 1}.items() }} {{ {'items': 1}['items'] }}", "[('items', 1)] 1"],
  ]);
});

test('a generation block keeps the white space beside it', () => {
  assert.equal(shown('a\n{% generation %}\n b\n{% endgeneration %}\n{%- if true %}c{% endif %}'), 'a\n b\nc');
});

test('the date is the one of the user in the C locale', () => {
  const form = '%d %b %Y %H:%M:%S %A %j %-d %I %p %y %% %Q';
  assert.equal(shown(`{{ strftime_now('${form}') }}`), '04 Jul 2024 09:05:06 Thursday 186 4 09 AM 24 % %Q');
});

test('what a template may not do fails', () => {
  const refused = [
    '{{ missing.name }}',
    "{{ 'a' + 1 }}",
    '{% set a.b = 1 %}',
    '{{ 1 / 0 }}',
    '{{ none | indent }}',
    '{{ [] | nothing }}',
  ];
  for (const source of refused) assert.ok('failed' in answerTo(() => shown(source)), source);
});
