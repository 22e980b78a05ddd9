import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf, placedAt } from '../../../src/adapters/place.js';
import { AppError } from '../../../src/common/errors.js';
import { AdapterHostNotNamed } from '../../../src/crypto/errors.js';
import { AdapterHosts } from '../../../src/engine/adapters/hosts.js';

const HOST = 'http://host:8097';
const ABOUT = { token: null, hiddenSize: 64 };
const { signal } = new AbortController();
const ADAPTERS = ['banking', 'tax'].map((name) => ({
  name, description: '', rank: 4, hiddenSize: 64, scale: 1, keywords: [name], encrypted: true,
}));

/** @param {{failures?: number}} [options] */
function rig({ failures = 0 } = {}) {
  /** @type {any[]} */
  const opened = [];
  /** @type {string[]} */
  const did = [];
  class HostedAdapters {
    /** @param {any} where */
    static async open(where) {
      opened.push(where);
      if (opened.length <= failures) throw new AppError('adapter_host_unreachable', 'off');
      return new HostedAdapters();
    }

    available = ADAPTERS;
    traffic = { sent: 3, received: 4 };
    use = async (/** @type {any} */ about) => {
      did.push(`use ${about.name}`);
      return { end: () => did.push('end') };
    };
    close = () => did.push('close');
  }
  const part = { HostedAdapters, AdapterHostNotNamed, correcting: (/** @type {any} */ sequence) => ({ ...sequence, corrected: true }) };
  let loads = 0;
  const hosts = new AdapterHosts(async () => {
    loads += 1;
    return /** @type {any} */ (part);
  });
  hosts.name([HOST]);
  return { hosts, opened, did, loads: () => loads };
}

test('an adapter of the server loads nothing and asks no host', async () => {
  const { hosts, opened, loads } = rig();
  for (const wanted of [null, 'auto', 'banking', '@', 'a@']) {
    assert.equal(await hosts.begin(wanted, '', ABOUT, signal), null, String(wanted));
  }
  assert.deepEqual([opened.length, loads()], [0, 0]);
});

test('a host that the server does not name is not asked', async () => {
  const { hosts, opened } = rig();
  for (const host of ['http://other:8097', 'https://host:8097', `${HOST}/`, 'http://host:80970', 'http://HOST:8097']) {
    await assert.rejects(hosts.begin(placedAt('banking', host), '', ABOUT, signal), { code: 'adapter_host_not_named' });
    await assert.rejects(hosts.list({ host, ...ABOUT }), { code: 'adapter_host_not_named' });
  }
  hosts.name([]);
  await assert.rejects(hosts.begin(placedAt('banking', HOST), '', ABOUT, signal), { code: 'adapter_host_not_named' });
  assert.equal(opened.length, 0);
});

test('a named adapter is used, “auto” goes by the words, and what no host has is refused', async () => {
  const { hosts, did, opened } = rig();
  const named = await hosts.begin(placedAt('banking', HOST), '', ABOUT, signal);
  assert.equal(named?.name, `banking@${HOST}`);
  assert.equal(/** @type {any} */ (named?.correcting(/** @type {any} */ ({}))).corrected, true);
  named?.end();
  const auto = await hosts.begin(placedAt('auto', HOST), 'a question of tax', ABOUT, signal);
  assert.equal(auto?.name, `tax@${HOST}`);
  assert.equal(await hosts.begin(placedAt('auto', HOST), 'hello', ABOUT, signal), null);
  for (const name of ['other', '']) {
    await assert.rejects(hosts.begin(placedAt(name, HOST), '', ABOUT, signal), { code: 'unknown_adapter' });
  }
  assert.deepEqual(did, ['use banking', 'end', 'use tax']);
  assert.equal(opened.length, 1);
});

test('another token or another hidden size asks anew, and few stay open, never without that of the reply', async () => {
  const { hosts, opened, did } = rig();
  await hosts.begin(placedAt('banking', HOST), '', ABOUT, signal);
  for (let i = 0; i < 6; i++) await hosts.list({ host: HOST, token: `token-${i}`, hiddenSize: 64 });
  assert.equal(opened.length, 7);
  assert.deepEqual(did, ['use banking', 'close', 'close', 'close']);
  await hosts.list({ host: HOST, ...ABOUT });
  assert.equal(opened.length, 7);
  // Bytes of those that were closed count on.
  assert.deepEqual(hosts.traffic, { sent: 21, received: 28 });
  hosts.close();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(did.filter((what) => what === 'close').length, 7);
});

test('what failed is asked again', async () => {
  const { hosts, opened } = rig({ failures: 1 });
  await assert.rejects(hosts.list({ host: HOST, ...ABOUT }), { code: 'adapter_host_unreachable' });
  assert.equal((await hosts.list({ host: HOST, ...ABOUT })).length, 2);
  assert.equal(opened.length, 2);
});

test('a stop ends the wait for a host, and a part that cannot be loaded is told so', async () => {
  const { hosts } = rig();
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(hosts.begin(placedAt('banking', HOST), '', ABOUT, stop.signal), { code: 'cancelled' });
  const offline = new AdapterHosts(() => Promise.reject(new TypeError('Failed to fetch')));
  offline.name([HOST]);
  await assert.rejects(offline.list({ host: HOST, ...ABOUT }), { code: 'part_missing' });
});

test('a place is told from a name by its first @', () => {
  assert.deepEqual(placeOf('banking'), { name: 'banking', host: null });
  assert.deepEqual(placeOf(placedAt('a.b-c_d', HOST)), { name: 'a.b-c_d', host: HOST });
  assert.deepEqual(placeOf('a@b@c'), { name: 'a', host: 'b@c' });
  for (const nothing of [null, '', '@']) assert.deepEqual(placeOf(nothing), { name: null, host: null });
});
