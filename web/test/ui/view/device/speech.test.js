import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localVoice, piecesOf } from '../../../../src/ui/view/device/speech.js';

const voice = (/** @type {string} */ lang, /** @type {any} */ localService = true) => ({ lang, localService });

test('a voice is local, or none is taken', () => {
  const [cloud, vague, own] = [voice('de-DE', false), voice('de-DE', null), voice('de_AT')];
  assert.equal(localVoice([cloud, vague, own], ['de']), own);
  assert.equal(localVoice([cloud, vague], ['de']), null);
});

test('the first language that has a voice counts', () => {
  const [english, french] = [voice('en-GB'), voice('fr')];
  assert.equal(localVoice([english, french], ['de', 'fr-CH', 'en']), french);
  assert.equal(localVoice([english], ['de']), english);
});

test('a text is read in sentences, none lost and none too long', () => {
  const text = `One. Two! ${'word '.repeat(200)}End?\n\n---\nLast`;
  const pieces = piecesOf(text);
  assert.ok(pieces.every((piece) => piece.length <= 210));
  assert.equal(pieces.join('').replace(/[\s-]/g, ''), text.replace(/[\s-]/g, ''));
  assert.deepEqual(piecesOf('... --- !!!'), []);
  const begun = performance.now();
  piecesOf('.!? '.repeat(100_000));
  assert.ok(performance.now() - begun < 2000);
});
