import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterWords, hostWords } from '../../../src/ui/words/adapters.js';

test('an adapter of a host is told with its host, and that it is encrypted', () => {
  assert.equal(adapterWords('banking@https://adapters.example.org:8097'), 'banking at adapters.example.org:8097, encrypted');
  assert.deepEqual([adapterWords('banking'), adapterWords('auto'), adapterWords(null)], ['banking', 'auto', 'none']);
  assert.equal(hostWords('http://127.0.0.1:8097'), '127.0.0.1:8097');
});
