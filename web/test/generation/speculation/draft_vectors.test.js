// tests/vectors/drafts.json, which Python's drafts meet too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Drafter } from '../../../src/generation/speculation/drafter.js';
import { Given } from '../../../src/generation/speculation/given.js';
import { AdaptiveLength } from '../../../src/generation/speculation/length.js';
import { Memo } from '../../../src/generation/speculation/memo.js';
import { Suffix } from '../../../src/generation/speculation/suffix.js';

const file = new URL('../../../../tests/vectors/drafts.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8'));

test('the file has the parts that are tested here', () => {
  assert.equal(vectors.format, 1);
  assert.deepEqual(Object.keys(vectors), ['format', 'sources', 'lengths', 'chats']);
});

/** @param {any} about */
function sourceOf({ source, given, most_bytes: mostBytes }) {
  if (source === 'given') return new Given(given);
  return source === 'memo' ? new Memo(mostBytes) : new Suffix();
}

for (const { name, acts, ...about } of vectors.sources) {
  test(`what is guessed: ${name}`, () => {
    const source = sourceOf(about);
    /** @type {number[]} */
    let tokens = [];
    for (const { prompt, reply, keep, add, most, expected } of acts) {
      if (reply) {
        /** @type {Memo} */ (source).replied(prompt, reply);
        continue;
      }
      tokens = [...tokens.slice(0, keep), ...add];
      source.follow(tokens);
      const draft = source.draft(most);
      assert.deepEqual(draft && { match: draft.match, tokens: draft.tokens }, expected);
      assert.equal(draft?.source ?? source.name, about.source);
    }
  });
}

/** @param {{source: string, match: number}} about @param {number} count */
const draftOf = ({ source, match }, count) => ({ source, match, tokens: Array.from({ length: count }, (_, i) => i) });

for (const { name, acts } of vectors.lengths) {
  test(`how much of it is sent: ${name}`, () => {
    const length = new AdaptiveLength();
    let last = null;
    for (const { stepped, judged, seen, head, asked, choose, expected } of acts) {
      if (stepped) length.stepped((last = stepped));
      else if (judged) {
        length.judged(draftOf(judged, judged.drafted), judged.accepted, last);
        last = null;
      } else if (seen) length.seen(draftOf(seen, 15), seen.right, seen.wrong);
      else if (head !== undefined) length.head(head);
      else if (asked) assert.equal(length.asked(asked), expected);
      else assert.equal(length.choose(draftOf(choose, choose.available)).count, expected);
    }
  });
}

/**
 * The steps of a reply, each as [source, match, tokens drafted, of them chosen].
 * @param {Drafter} drafter @param {any} one @param {any} about
 */
async function stepsOf(drafter, { prompt, reply, expect = [] }, about) {
  const { fixed_seconds: step, row_seconds: row, head_seconds: head, permits } = about;
  const permitted = permits === null ? null : (/** @type {readonly number[]} */ draft) => Math.min(permits, draft.length);
  const steps = [];
  drafter.expect(expect);
  for (let done = 0; done < reply.length; ) {
    const most = Math.min(about.most, reply.length - done - 1);
    const draft = await drafter.draft([...prompt, ...reply.slice(0, done)], most, permitted);
    const count = draft.tokens.length;
    const rows = 1 + count;
    drafter.stepped({ rows, returned: rows, seconds: step + row * rows, compute: row * rows, queue: 0 });
    let accepted = 0;
    while (accepted < count && draft.tokens[accepted] === reply[done + accepted]) accepted++;
    if (count) drafter.judged(draft, accepted);
    for (let i = 0; i <= accepted; i++) drafter.head(head);
    done += accepted + 1;
    steps.push([draft.source, draft.match, count, accepted]);
  }
  drafter.replied(prompt, reply);
  return steps;
}

// A fixed length is no setting of the page.
for (const { name, replies, ...about } of vectors.chats.filter((/** @type {any} */ { count }) => count === null)) {
  test(`a chat: ${name}`, async () => {
    const drafter = Drafter.ofChat(about.memo_bytes === null ? null : new Memo(about.memo_bytes));
    for (const { steps, ...one } of replies) assert.deepEqual(await stepsOf(drafter, one, about), steps);
  });
}
