import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { attentionTruth, truth, weightsOf } from './peer.js';
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

/** The tokens of a turn: some of the last ones, and new ones. @param {number[]} tokens @param {(limit: number) => number} draw */
function edited(tokens, draw) {
  const kept = tokens.slice(0, draw(tokens.length + 1));
  const fresh = Array.from({ length: 1 + draw(5) }, () => draw(9));
  return [...kept, ...fresh].slice(0, 40);
}

for (let seed = 0; seed < 24; seed++) {
  test(`what the server holds is what the device believes, whatever is lost (${seed})`, async () => {
    const draw = drawing(seed);
    const rig = new Rig();
    /** @type {AbortController | null} */
    let stop = null;
    rig.fate = () => {
      const dice = draw(12);
      rig.now += draw(3);
      if (dice === 0 && rig.peer.sessions.size) rig.peer.sessions.delete([...rig.peer.sessions.keys()][0]);
      if (dice === 1) rig.channel.wake();
      if (dice === 2) stop?.abort();
      return dice === 3 || dice === 4 ? 'before' : dice === 5 || dice === 6 ? 'after' : 'works';
    };
    rig.onSent = () => {
      if (draw(8) === 0) stop?.abort();
    };
    /** @type {number[]} */
    let tokens = [];
    let reached = 0;
    for (let turn = 0; turn < 60; turn++) {
      tokens = edited(tokens, draw);
      stop = new AbortController();
      try {
        const attention = seed % 2 === 1 && /** @type {const} */ ('row');
        const extended = await rig.sequence.extend(tokens, { signal: stop.signal, attention });
        assert.deepEqual(extended.hidden, truth(tokens));
        assert.deepEqual(weightsOf(extended), attention ? attentionTruth(tokens) : null);
        reached += 1;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        assert.ok(['cancelled', 'session_unstable'].includes(error.code), error.code);
      }
    }
    assert.ok(reached > 5, `${reached}`);
    assert.ok([...rig.peer.runs.values()].every((count) => count === 1));
  });
}
