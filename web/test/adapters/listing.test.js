import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listAdapters, parseListing } from '../../src/adapters/listing.js';

const BANKING = { name: 'banking', rank: 8, hidden_size: 64, scale: 2, keywords: ['loan'], encrypted: true };
const READ = { name: 'banking', description: '', rank: 8, hiddenSize: 64, scale: 2, keywords: ['loan'] };

/** @param {Response | Error} answer */
function server(answer) {
  /** @type {any[]} */
  const asked = [];
  /** @type {typeof globalThis.fetch} */
  const fetch = async (url, options) => {
    asked.push([url, options?.headers]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, url: 'https://host', token: 'secret', fetch };
}

/** @param {unknown} value @param {number} [status] */
function json(value, status = 200) {
  return new Response(JSON.stringify(value), { status });
}

test('the list is asked for with the token, and what it names is used in the clear', async () => {
  const asked = server(json({ adapters: [BANKING] }));
  assert.deepEqual(await listAdapters(asked), { adapters: [{ ...READ, encrypted: false }], hosts: [] });
  assert.deepEqual(asked.asked, [['https://host/api/v1/adapters', { Authorization: 'Bearer secret' }]]);
});

test('without a token there is no header', async () => {
  const asked = { ...server(json({ adapters: [] })), token: null };
  assert.deepEqual(await listAdapters(asked), { adapters: [], hosts: [] });
  assert.deepEqual(asked.asked[0][1], {});
});

test('a server that does not know of adapters has none', async () => {
  assert.deepEqual(await listAdapters(server(json({}, 404))), { adapters: [], hosts: [] });
});

test('refusals keep their code; another page and silence have theirs', async () => {
  const error = { code: 'overloaded', message: 'wait', retryable: true };
  await assert.rejects(listAdapters(server(json({ error }, 503))), { code: 'overloaded', retryable: true });
  const page = new Response('<html>', { status: 502 });
  await assert.rejects(listAdapters(server(page)), { code: 'not_a_split_server' });
  const silence = new TypeError('failed to fetch');
  await assert.rejects(listAdapters(server(silence)), { code: 'server_unreachable', retryable: true });
});

test('hosts of encrypted adapters are origins, or the list is not believed', async () => {
  const named = ['http://127.0.0.1:8097', 'https://adapters.example.org'];
  const listed = (/** @type {unknown} */ hosts) => listAdapters(server(json({ adapters: [], adapter_hosts: hosts })));
  assert.deepEqual((await listed(named)).hosts, named);
  const wrong = [
    'http://h', {}, null, [1], ['h'], ['*'], ['http://h/'], ['http://h/path'], ['http://h b'], ['http://u@h'], ['ftp://h'], ['http://H'],
    ['http://[::1]:80'], ['http://h:123456'], [`http://${'h'.repeat(201)}`], Array(65).fill('http://h'),
  ];
  for (const hosts of wrong) await assert.rejects(listed(hosts), { code: 'adapter_list_invalid' }, JSON.stringify(hosts));
});

test('a list that has no end is left', async () => {
  let pulled = 0;
  let left = false;
  const body = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1 << 20).fill(0x20));
    },
    cancel() {
      left = true;
    },
  });
  await assert.rejects(listAdapters(server(new Response(body))), { code: 'adapter_list_invalid' });
  assert.ok(left && pulled <= 10);
});

test('what a person could not read becomes spaces', () => {
  const description = 'a\u001b[2J\u202eb\u00a0c';
  const bytes = new TextEncoder().encode(JSON.stringify({ adapters: [{ ...BANKING, description }] }));
  assert.equal(parseListing(bytes)[0].description, 'a [2J b c');
});

test('a key that occurs twice is refused, also inside an entry', () => {
  const inside = '{"adapters": [{"name": "a", "n\\u0061me": "b"}]}';
  for (const text of ['{"adapters": [], "adapters": []}', inside]) {
    assert.throws(() => parseListing(new TextEncoder().encode(text)), {
      code: 'adapter_list_invalid',
      message: /twice/,
    });
  }
});
