import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorization, credentialProtocols } from '../../src/transport/bearer.js';

test('a token travels as a header, and as a subprotocol without padding', () => {
  assert.deepEqual(authorization('abc'), { Authorization: 'Bearer abc' });
  assert.deepEqual(credentialProtocols('a'), ['split.bearer.YQ']);
  for (const nothing of [null, '']) {
    assert.deepEqual([authorization(nothing), credentialProtocols(nothing)], [{}, []]);
  }
});

test('every printable token comes back from its subprotocol, which is an HTTP token', () => {
  const printable = String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 33 + i));
  for (let length = 1; length <= printable.length; length++) {
    const token = printable.slice(-length);
    const [protocol] = credentialProtocols(token);
    assert.match(protocol, /^split\.bearer\.[A-Za-z0-9_-]+$/);
    const encoded = protocol.slice('split.bearer.'.length);
    assert.equal(Buffer.from(encoded, 'base64url').toString('latin1'), token);
  }
});

test('a token that is not printable ASCII is refused', () => {
  for (const token of ['a b', 'a\n', 'é', '\x7f']) {
    assert.throws(() => authorization(token), { code: 'token_invalid' });
    assert.throws(() => credentialProtocols(token), { code: 'token_invalid' });
  }
});
