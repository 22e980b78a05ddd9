import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Peer, truths } from './peer.js';
import { Rig } from './rig.js';

/** Mulberry32: draws below `limit`. @param {number} seed */
function drawing(seed) {
  let state = seed;
  return (/** @type {number} */ limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** A conversation over connections that are killed with steps under way. @param {number} seed */
async function talk(seed) {
  const draw = drawing(seed);
  const rig = new Rig({ peer: Object.assign(new Peer(), { returnsRows: seed % 3 > 0 }) });
  let kills = 0;
  rig.fate = () => {
    const dice = draw(9);
    if (dice > 2) return 'works';
    kills += 1;
    // Frames may arrive once their connection is gone, and behind those of the next one.
    return /** @type {const} */ (['before', 'after', 'late'])[dice];
  };
  rig.lateComes = () => draw(2) === 0;
  /** @type {number[]} */
  let tokens = [];
  for (let turn = 0; turn < 12; turn++) {
    tokens = [...tokens.slice(0, draw(tokens.length + 1)), ...Array.from({ length: 1 + draw(20) }, () => draw(9))].slice(0, 40);
    const rows = 1 + draw(Math.min(tokens.length, 4));
    const { states } = await rig.sequence.cache(tokens, { rows });
    assert.deepEqual(states, truths(tokens, rows));
  }
  assert.ok([...rig.peer.runs.values()].every((count) => count === 1));
  return { kills, most: rig.most };
}

test('a thousand killed connections lose no row and double none', async () => {
  let [kills, most] = [0, 0];
  for (let seed = 0; kills < 1000; seed++) {
    const told = await talk(seed);
    kills += told.kills;
    most = Math.max(most, told.most);
  }
  assert.ok(most >= 2);
});
