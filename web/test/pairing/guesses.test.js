import assert from 'node:assert/strict';
import test from 'node:test';

import { AppError } from '../../src/common/errors.js';
import { guessName } from '../../src/pairing/device_name.js';
import { describeLoss, findLoss } from '../../src/pairing/losses.js';
import { explain } from '../../src/pairing/words.js';

/** @type {[string, string, number?][]} */
const AGENTS = [
  ['iPhone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'],
  ['iPad', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15', 5],
  ['Mac', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15', 0],
  ['Android phone', 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36'],
  ['Android tablet', 'Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'],
  ['Chromebook', 'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'],
  ['Windows PC', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0'],
  ['Linux PC', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'],
  ['Browser', 'Mozilla/5.0 (unheard of)'],
];

for (const [name, userAgent, maxTouchPoints] of AGENTS) {
  test(`${userAgent} with ${maxTouchPoints} touch points is called ${name}`, () => {
    assert.equal(guessName({ userAgent, maxTouchPoints }), name);
  });
}

/** @param {unknown} [error] */
const workers = (error) => ({
  register: async () => {
    if (error) throw error;
    return /** @type {ServiceWorkerRegistration} */ ({});
  },
});

test('a page is told by what it can do which of its powers are withheld', async () => {
  const untrusted = new DOMException('An SSL certificate error occurred', 'SecurityError');
  assert.equal(await findLoss({ isSecureContext: false, serviceWorkers: undefined }), 'plain');
  assert.equal(await findLoss({ isSecureContext: true, serviceWorkers: undefined }), 'no_worker');
  assert.equal(await findLoss({ isSecureContext: true, serviceWorkers: workers(untrusted) }), 'untrusted');
  assert.equal(await findLoss({ isSecureContext: true, serviceWorkers: workers(new TypeError()) }), 'no_worker');
  assert.equal(await findLoss({ isSecureContext: true, serviceWorkers: workers() }), null);
  for (const loss of /** @type {const} */ (['plain', 'untrusted', 'no_worker'])) {
    assert.ok(describeLoss(loss).words.length);
  }
});

test('every failure of pairing is a sentence that says what to do', () => {
  assert.match(explain(new AppError('pairing_refused', 'x')), /split-server pair/);
  assert.match(explain(new AppError('pairing_busy', 'x')), /Wait a minute/);
  assert.match(explain(new AppError('server_unreachable', 'x')), /network/);
  assert.equal(explain(new AppError('another', 'the words of it')), 'The words of it.');
  assert.match(explain(new Error('secret')), /^Something failed/);
});
