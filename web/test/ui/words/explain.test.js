import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START } from '../../../src/ui/machine/phase.js';
import { cannotSend, sentence, whatHappened, whyEnded, whyPairing } from '../../../src/ui/words/explain.js';

test('a reply that ended by itself needs no words; every other end has its own', () => {
  assert.equal(whyEnded('eos'), null);
  assert.equal(whyEnded(undefined), null);
  const reasons = ['stop', 'length', 'context', 'cancelled', 'interrupted', 'connection_lost'];
  assert.equal(new Set(reasons.map((reason) => whyEnded(reason))).size, reasons.length);
  const words = whyEnded('connection_lost', 'the network went away') ?? '';
  assert.match(words, /Broke off: the network went away/);
});

test('only a ready page can send; every other one says why not', () => {
  /** @type {import('../../../src/ui/machine/phase.js').PhaseName[]} */
  const names = [
    'connecting', 'needs_token', 'needs_download', 'downloading', 'preparing', 'offline', 'failed',
  ];
  const words = names.map((name) => cannotSend({ ...START, name }));
  assert.equal(new Set(words).size, names.length);
  assert.ok(words.every(Boolean));
  assert.equal(cannotSend({ ...START, name: 'ready' }), null);
  const problem = { code: 'model_loading', message: 'words' };
  assert.equal(cannotSend({ ...START, problem }), 'The server loads the model…');
});

test('a server that lets this device wait is told with what is awaited and the next try', () => {
  const words = ['opening', 'too_many_sessions', 'cache_full', 'model_loading', 'overloaded'].map((code) =>
    whatHappened({ type: 'waiting', code, delay: 3.6 }));
  assert.equal(words[1], 'All places on the server are taken. Waiting for one; next try in 4 s.');
  assert.equal(new Set(words).size, words.length);
  assert.equal(whatHappened({ type: 'waiting', code: 'opening', delay: 0 }), 'Waiting for a place on the server.');
  assert.equal(whatHappened({ type: 'waited' }), null);
});

test('a lost connection is told with its reason and the next try', () => {
  const words = whatHappened({ type: 'reconnecting', reason: 'closed', attempt: 3, delay: 4.2 });
  assert.equal(words, 'Connection lost (closed). Reconnecting, try 3; next try in 4 s.');
  assert.match(whatHappened({ type: 'resent' }) ?? '', /sent again/);
  assert.equal(whatHappened({ type: 'reconnected' }), null);
});

test('a revoked device is told so', () => {
  assert.match(whyPairing({ code: 'device_revoked', message: '' }), /took back/);
  assert.doesNotMatch(whyPairing(null), /took back/);
  assert.match(whyPairing({ code: 'device_revoked', message: '' }, true), /took back/);
});

test('a token that the server refuses is told apart from none', () => {
  const problem = { code: 'unauthorized', message: '' };
  assert.match(whyPairing(problem, true), /does not accept the token/);
  assert.doesNotMatch(whyPairing(problem, false), /token/);
});

test('the message of an error is a sentence where it stands by itself', () => {
  assert.equal(sentence('it is not JSON'), 'It is not JSON.');
  assert.equal(sentence('Already whole.'), 'Already whole.');
  assert.equal(sentence('how?'), 'How?');
  assert.equal(sentence(''), '');
});
