import assert from 'node:assert/strict';
import { test } from 'node:test';
import { againWords, leftOutWords, meterWords, proposalWords, readBudget } from '../../../src/ui/words/room.js';

const FILL = { messages: [], total: 1158, again: 1, limit: 4096, exact: true };
const PROPOSAL = { dropped: [], units: 12, before: 4300, tokens: 3072, sent: 2000, limit: 4096, target: 3072 };

test('a meter says what there is, what is being written, and what is not quite known', () => {
  assert.deepEqual(meterWords(FILL, 0, 4096), { short: '1,158 / 4,096', long: '1,158 of 4,096' });
  assert.deepEqual(meterWords(FILL, 7, 4096), { short: '1,165 / 4,096', long: '1,158 + 7 of 4,096' });
  assert.deepEqual(meterWords(null, 5, 4096, true), { short: '≥5 / 4,096', long: '0 + ≥5 of 4,096' });
  assert.equal(meterWords({ ...FILL, exact: false }, 0, 4096).long, '≈1,158 of 4,096');
});

test('what leaving out frees and costs is said in tokens, with noise as rows that are charged', () => {
  assert.equal(leftOutWords(PROPOSAL), '12 parts left out, 1,228 tokens freed; 2,000 tokens are sent again');
  assert.equal(proposalWords(PROPOSAL, false), 'Leaving the oldest 12 parts out frees 1,228 tokens; 2,000 tokens are sent again.');
  assert.equal(proposalWords({ ...PROPOSAL, units: 1, sent: 1 }, true),
    'Leaving the oldest part out frees 1,228 tokens; 1 token is sent again. With noise up to 1 row is charged anew.');
  assert.equal(againWords(FILL, false), 'Of the chat, 1 token travels with the next message.');
  assert.equal(againWords({ ...FILL, again: 9 }, true),
    'Of the chat, 9 tokens travel with the next message. With noise up to 9 rows are charged anew.');
});

test('a budget is a whole number of tokens, or all that the model has', () => {
  assert.deepEqual(['', ' ', '900', '4,096', '64'].map(readBudget).map((read) => /** @type {any} */ (read).value), [null, null, 900, 4096, 64]);
  for (const text of ['63', '-5', '1.5', 'many', '1e4', '9'.repeat(12)]) assert.match(/** @type {any} */ (readBudget(text)).problem, /at least 64/);
});
