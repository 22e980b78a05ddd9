import assert from 'node:assert/strict';
import { test } from 'node:test';
import { segmentsOf } from '../../src/markdown/segments.js';

/** @param {string} text */
const texts = (text) => segmentsOf(text).map((segment) => segment.text);
/** @param {string} text */
const kinds = (text) => segmentsOf(text).map((segment) => segment.kind);

test('blank lines part paragraphs and blocks part what follows', () => {
  assert.deepEqual(texts('a\nb\n\n\nc'), ['a\nb', 'c']);
  assert.deepEqual(texts('# a\nb\n---\nc\n> q\nlazy\n# d'), ['# a', 'b\n---\nc', '> q\nlazy', '# d']);
  assert.deepEqual(texts('a\r\nb\r\n\r\nc\rd'), ['a\nb', 'c\nd']);
  assert.deepEqual(texts(''), []);
  assert.deepEqual(texts(' \n\t\n'), []);
});

test('a fence keeps everything up to its end, which is as long and of the same mark', () => {
  const [fence, after] = segmentsOf('````js x\n# a\n\n```\n~~~~\n````\nafter');
  assert.deepEqual(fence, { kind: 'fence', text: '# a\n\n```\n~~~~', lang: 'js x', open: false });
  assert.equal(after.text, 'after');
  assert.deepEqual(segmentsOf('text\n~~~\nopen\n'), [
    { kind: 'other', text: 'text' },
    { kind: 'fence', text: 'open\n', lang: '', open: true },
  ]);
  assert.deepEqual(kinds('``` no `fence`\n'), ['other']);
  assert.equal(segmentsOf('  ```\n   x\n y\n  ```')[0].text, ' x\ny');
});

test('a list keeps its blank lines, its paragraphs and its code', () => {
  assert.deepEqual(texts('- a\n\n- b\n\n  more\n\nafter'), ['- a', '- b\n\n  more', 'after']);
  const withCode = '1. a\n   ```\n   # x\n\n   y\n   ```';
  assert.deepEqual(texts(`${withCode}\n2. b`), [withCode, '2. b']);
  assert.deepEqual(texts('- a\nlazy\n# h'), ['- a\nlazy', '# h']);
  assert.deepEqual(texts('intro:\n- a\n\n  b'), ['intro:', '- a\n\n  b']);
  assert.deepEqual(texts('in\n1986. was'), ['in\n1986. was']);
  assert.deepEqual(texts('- a\n- - -\n- b'), ['- a', '- - -', '- b']);
});

test('items of one list are parted, and those of another list are read with the item before', () => {
  const segments = segmentsOf('- a\n\n- b\n  - c\n- d\n+ e\n1. f');
  assert.deepEqual(segments.map((segment) => segment.text), ['- a', '- b\n  - c', '- d\n+ e\n1. f']);
  assert.deepEqual(segments[1], { kind: 'list', text: '- b\n  - c', joins: true, apart: true });
  assert.deepEqual(segments[2].apart, false);
});

test('indented code keeps its blank lines', () => {
  assert.deepEqual(texts('    a\n\n    b\n\nc'), ['    a\n\n    b', 'c']);
});

test('what was read before a new line stays the same, whatever is added', () => {
  const text = 'a\n\n- b\n\n- c\n\n```\nd\n\ne\n```\n\n| x |\n|---|\n| y |\n\n> q\n\n    i\n\n    j\n\nend';
  let before = segmentsOf('');
  for (let length = 1; length <= text.length; length += 1) {
    const now = segmentsOf(text.slice(0, length));
    const kept = before.slice(0, -1);
    assert.deepEqual(now.slice(0, kept.length), kept);
    before = now;
  }
});

test('no run is much longer than its bound, so that none costs too much', () => {
  for (const line of ['text\n', '- item\n', '> quote\n', '    code\n']) {
    const longest = Math.max(...segmentsOf(line.repeat(50_000)).map((segment) => segment.text.length));
    assert.ok(longest < 33_000, line);
  }
});
