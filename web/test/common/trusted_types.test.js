import assert from 'node:assert/strict';
import test from 'node:test';

globalThis.location = /** @type {Location} */ ({ href: 'https://h:8095/chat', origin: 'https://h:8095' });
const { ownAddress } = await import('../../src/common/trusted_types.js');

test('scripts of this server may start, relative or absolute', () => {
  for (const address of ['/app/x/engine.js', 'https://h:8095/app/x/ends.js', 'ends.js']) {
    assert.equal(ownAddress(address), address);
  }
});

for (const address of ['https://evil.example/x.js', 'http://h:8095/x.js', 'data:text/javascript,1', '//evil.example/x']) {
  test(`${address} may not`, () => assert.throws(() => ownAddress(address), TypeError));
}
