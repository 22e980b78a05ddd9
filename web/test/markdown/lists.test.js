import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokensOf } from '../../src/markdown/lexer.js';
import { parseMarkdown } from '../../src/markdown/markdown.js';
import { blocksOf } from '../../src/markdown/nodes.js';

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

const LINES = ['- a', '- b **c**', '  - d', '  more', '', '', '    - e', 'lazy', '  ```\n  g\n\n  h\n  ```'];
const NUMBERED = ['1. a', '2. b', '   - c', '   more', '', 'lazy', '   1. d'];

for (const lines of [LINES, NUMBERED]) {
  test(`items read one by one are the list that is read whole: ${lines[0]}`, () => {
    const pick = random(4711);
    for (let round = 0; round < 2000; round += 1) {
      const more = Array.from({ length: 1 + pick(9) }, () => lines[pick(lines.length)]);
      const source = [lines[0], ...more].join('\n');
      // Behind a blank line a text at the margin is no longer of the list, whoever reads it.
      if (/\n\n(?:lazy)/.test(source)) continue;
      const whole = blocksOf(tokensOf(source.trimEnd(), { work: Infinity }));
      assert.deepEqual(parseMarkdown(source), whole, JSON.stringify(source));
    }
  });
}

test('finished items of a list that streams stay the same objects', () => {
  const before = /** @type {any} */ (parseMarkdown('- a\n- b\n- c d', { streaming: true })[0]);
  const after = /** @type {any} */ (parseMarkdown('- a\n- b\n- c d e', { streaming: true })[0]);
  assert.equal(after.items[0], before.items[0]);
  assert.equal(after.items[1], before.items[1]);
  const ended = parseMarkdown('- a\n- b\n- c d e\n\nend');
  assert.equal(parseMarkdown('- a\n- b\n- c d e\n\nend.')[0], ended[0]);
});
