import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paramsFrom } from '../../src/generation/params.js';
import { drawFromAll } from '../../src/generation/whole.js';

test('equal logits are told apart by their ids, both zeros being equal', () => {
  const logits = Float64Array.of(0, 3, -0, 3, -Infinity, 0);
  const params = paramsFrom({ temperature: 100 });
  const drawn = [0, 1, 2, 3, 4].map((place) => drawFromAll(logits, params, (place + 0.5) / 5).token);
  assert.deepEqual(drawn, [1, 3, 0, 2, 5]);
});

test('what is drawn has its share among what the filters kept, and the logits stay as they are', () => {
  const logits = Float64Array.of(Math.log(3), 0, Math.log(6), -Infinity);
  const before = logits.slice();
  const all = drawFromAll(logits, paramsFrom({ temperature: 1 }), 0.95);
  assert.equal(all.token, 1);
  assert.ok(Math.abs(all.probability - 0.1) < 1e-12);
  const kept = drawFromAll(logits, paramsFrom({ temperature: 1, top_p: 0.7 }), 0.95);
  assert.equal(kept.token, 0);
  assert.ok(Math.abs(kept.probability - 1 / 3) < 1e-12);
  assert.deepEqual(logits, before);
});
