import assert from 'node:assert/strict';
import { test } from 'node:test';
import { casefold } from '../../src/adapters/casefold.js';
import { choose, wordsOf } from '../../src/adapters/choice.js';

/** @param {string} name @param {string[]} keywords */
function adapter(name, ...keywords) {
  return { name, description: '', rank: 1, hiddenSize: 1, scale: 1, encrypted: false, keywords };
}

const bank = adapter('bank', 'loan', 'interest rate', 'Straße');
const sea = adapter('sea', 'loan', 'ship', 'interest');

test('the adapter with the most keywords is chosen, the first of several', () => {
  assert.equal(choose('A LOAN for a ship', [bank, sea]), sea);
  assert.equal(choose('a loan', [bank, sea]), bank);
  assert.equal(choose('a loan', [sea, bank]), sea);
  assert.equal(choose('hello', [bank, sea]), null);
  assert.equal(choose('hello', []), null);
});

test('keywords are whole words, in any case, whatever stands between them', () => {
  assert.equal(choose('interest\n\n-- RATE', [bank]), bank);
  assert.equal(choose('interests rate', [bank]), null);
  assert.equal(choose('AUF DER STRASSE', [bank]), bank);
  assert.equal(choose('loaned', [bank]), null);
});

test('a keyword counts once, and none is no keyword', () => {
  const twice = adapter('twice', 'loan', 'LOAN', '!');
  const other = adapter('other', 'loan', 'rate');
  assert.equal(choose('loan loan rate !', [twice, other]), other);
  assert.equal(choose('!', [twice]), null);
});

test('a very long text is searched at its beginning', () => {
  assert.equal(choose('😀'.repeat(49_990) + ' loan', [bank]), bank);
  assert.equal(choose('😀'.repeat(49_996) + ' loan', [bank]), null);
});

test('words have single spaces around them, and underscores and numbers belong to them', () => {
  assert.equal(wordsOf(' Über-uns, a_b 3½!'), ' über uns a_b 3½ ');
  assert.equal(wordsOf('--'), '  ');
});

test('case folds fully, also where lower case does not', () => {
  const folds = { 'Straße ẞ': 'strasse ss', ΣΑΣ: 'σασ', 'ǅ': 'ǆ', 'ﬁ': 'fi', 'ı': 'ı', 'ꭰᏸᎠ': 'ᎠᏰᎠ' };
  for (const [text, folded] of Object.entries(folds)) assert.equal(casefold(text), folded);
});
