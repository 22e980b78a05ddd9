import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessedHeight, rough } from '../../../../src/ui/view/messages/rough.js';

test('signs of markdown around words are left out', () => {
  assert.equal(rough('# Head\n\nA **bold** and *slanted* `code`, [link](https://a.b/c).'),
    'Head\n\nA bold and slanted code, link.');
  assert.equal(rough('> said\n\n```python\nx = 1\n```\n'), 'said\n\n\nx = 1');
});

test('signs within words stay', () => {
  assert.equal(rough('snake_case and 2*3, a * b'), 'snake_case and 2*3, a * b');
});

test('hostile texts take no time', () => {
  const begun = performance.now();
  for (const piece of ['[a](', '[', '**', ' ', '*_', '# ', '![x](y', '_a']) rough(piece.repeat(200_000));
  assert.ok(performance.now() - begun < 4000);
});

test('a longer text is guessed to be higher, by its lines as they break', () => {
  assert.ok(guessedHeight('a'.repeat(440)) > guessedHeight('a'.repeat(44)));
  assert.equal(guessedHeight('a\nb\nc') - guessedHeight('a'), 50);
});
