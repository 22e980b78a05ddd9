import assert from 'node:assert/strict';
import test from 'node:test';

import { readLink, takeLink } from '../../src/pairing/link.js';

const DIGEST = Uint8Array.from({ length: 32 }, (_, i) => 8 * i);
const MARK = Buffer.from(DIGEST).toString('base64url');
const GROUPS = '0008 1018 2028 3038 4048 5058 6068 7078';

test('a link holds a code, and the fingerprint as the terminal groups it', () => {
  assert.deepEqual(readLink(`#AB12CD34.${MARK}`), { code: 'AB12-CD34', fingerprint: GROUPS });
});

test('a link of a server with a public certificate has no fingerprint', () => {
  assert.deepEqual(readLink('#ab12-cd34'), { code: 'AB12-CD34', fingerprint: null });
});

for (const hash of ['', '#', '#short', '#AB12 CD34', '#AB12CD34.short', `#AB12CD34.${MARK}.x`, '#AB12CD34.', '#<b>x</b>x']) {
  test(`${JSON.stringify(hash)} is no link`, () => assert.equal(readLink(hash), null));
}

test('the address bar and the history lose the fragment, whatever it is', () => {
  for (const [hash, code] of [['#AB12CD34', 'AB12-CD34'], ['#nonsense of somebody', undefined]]) {
    /** @type {unknown[]} */
    const replaced = [];
    const location = { hash, pathname: '/pair', search: '?s=1' };
    const history = { replaceState: (/** @type {unknown[]} */ ...given) => replaced.push(given[2]) };
    const link = takeLink(/** @type {Location} */ (location), /** @type {History} */ (/** @type {unknown} */ (history)));
    assert.equal(link?.code, code);
    assert.deepEqual(replaced, ['/pair?s=1']);
  }
});

test('without a fragment the history stays as it is', () => {
  const untouched = { replaceState: () => assert.fail('replaced') };
  const location = { hash: '', pathname: '/pair', search: '' };
  assert.equal(
    takeLink(/** @type {Location} */ (location), /** @type {History} */ (/** @type {unknown} */ (untouched))),
    null,
  );
});
