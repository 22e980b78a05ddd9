import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageIsPersistent } from '../../../src/ui/view/persistence.js';

/**
 * @param {import('node:test').TestContext} t
 * @param {{storage?: {persisted: () => Promise<boolean>}, isSecureContext: boolean}} page
 */
function within(t, { storage, isSecureContext }) {
  const values = { navigator: { storage }, isSecureContext };
  for (const [name, value] of Object.entries(values)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true });
    t.after(() => (before ? Object.defineProperty(globalThis, name, before) : Reflect.deleteProperty(globalThis, name)));
  }
}

test('a browser that can be asked is believed', async (t) => {
  within(t, { storage: { persisted: async () => true }, isSecureContext: true });
  assert.equal(await storageIsPersistent(), 'persistent');
});

test('plain http is blamed only where it is the reason', async (t) => {
  within(t, { isSecureContext: true });
  assert.equal(await storageIsPersistent(), 'the browser may clear it');
  within(t, { isSecureContext: false });
  assert.match(await storageIsPersistent(), /plain http has no say/);
});
