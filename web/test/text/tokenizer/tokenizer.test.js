import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Detokenizer } from '../../../src/text/tokenizer/detokenizer.js';
import { MAX_TEXT, ModelTokenizer } from '../../../src/text/tokenizer/tokenizer.js';

const FILE = readFileSync(
  new URL('../../../../server/split_server/embedded/tokenizer.json', import.meta.url),
  'utf8',
);
const TOKENIZER = ModelTokenizer.open(FILE, 2048);

/** The embedded model's file with parts replaced. @param {Record<string, unknown>} parts */
function edited(parts) {
  return JSON.stringify({ ...JSON.parse(FILE), ...parts });
}

/** A character-level file: 'a' to 'd', tokens for bytes. @param {Record<string, unknown>} [parts] */
function pieces(parts = {}) {
  const names = [
    '<unk>',
    'a',
    'b',
    '▁',
    ...Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  ];
  return JSON.stringify({
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }, { type: 'Fuse' }] },
    model: {
      type: 'BPE',
      byte_fallback: true,
      unk_token: '<unk>',
      vocab: Object.fromEntries(names.map((name, id) => [name, id])),
      merges: [],
    },
    ...parts,
  });
}

test('a text comes back from its ids', () => {
  for (const text of ['Hello, world!', ' naïve  café\n', '😀👩‍👩‍👧 你好', '', '\ufeffBOM', 'a\0b']) {
    assert.equal(TOKENIZER.decode(TOKENIZER.encode(text)), text);
  }
});

test('a lone surrogate becomes a question mark', () => {
  assert.deepEqual(TOKENIZER.encode('a\ud800b\udc00'), TOKENIZER.encode('a?b?'));
});

test('control tokens are left out of text unless they are asked for', () => {
  const ids = TOKENIZER.encode('<|im_start|>user\nHi<|im_end|>');
  assert.equal(TOKENIZER.decode(ids), 'user\nHi');
  assert.equal(TOKENIZER.decode(ids, false), '<|im_start|>user\nHi<|im_end|>');
  assert.equal(TOKENIZER.decode([...ids, 99999, -1]), 'user\nHi');
});

test('no piece of a reply ends within a character', () => {
  const text = 'Zürich 😀 – 你好 👩‍🚀';
  for (const encoded of [
    TOKENIZER.encode(text),
    [...text].flatMap((character) => TOKENIZER.encode(character)),
  ]) {
    const detokenizer = new Detokenizer(TOKENIZER);
    const shown = [...encoded.map((id) => detokenizer.push(id)), detokenizer.flush()];
    assert.equal(shown.join(''), text);
    for (const piece of shown) assert.ok(!/\p{Surrogate}/u.test(piece) && !piece.includes('\ufffd'), piece);
  }
});

test('half a character at the end of a reply is shown as a replacement', () => {
  const [first] = TOKENIZER.encode('😀');
  const detokenizer = new Detokenizer(TOKENIZER);
  assert.equal(detokenizer.push(first), '');
  assert.equal(detokenizer.flush(), '\ufffd');
});

test('tokens for bytes are shown once their run has ended', () => {
  const tokenizer = ModelTokenizer.open(pieces(), 300);
  const detokenizer = new Detokenizer(tokenizer);
  const shown = tokenizer.encode('你aéb').map((id) => detokenizer.push(id));
  assert.deepEqual(shown, ['', '', '', '你a', '', '', 'éb']);
  assert.equal(detokenizer.flush(), '');
});

test('what follows a control token is encoded by itself', () => {
  const before = TOKENIZER.encode('Hi<|im_end|>');
  assert.deepEqual(TOKENIZER.encodeAfter(before, '\nyou'), TOKENIZER.encode('\nyou'));
  assert.equal(TOKENIZER.encodeAfter(TOKENIZER.encode('Hi'), ' you'), null);
  assert.deepEqual(
    TOKENIZER.encodeAfter(TOKENIZER.encode('Hi'), '<|im_end|>x'),
    TOKENIZER.encode('<|im_end|>x'),
  );
  assert.equal(TOKENIZER.encodeAfter([], 'x'), null);
});

test('a file with more tokens than embeddings is refused', () => {
  assert.throws(() => ModelTokenizer.open(FILE, 2047), {
    code: 'tokenizer_invalid',
    message: /2047 embeddings/,
  });
});

test('whoever watches hears of a text before it is encoded and after, however that ends', () => {
  const tokenizer = ModelTokenizer.open(FILE, 4096);
  /** @type {boolean[]} */
  const heard = [];
  tokenizer.watch = (busy) => heard.push(busy);
  tokenizer.encode('Hello');
  tokenizer.encoded = () => {
    throw new Error('it fails');
  };
  assert.throws(() => tokenizer.encode('Hello'));
  assert.deepEqual(heard, [true, false, true, false]);
});

test('a damaged file is refused', () => {
  for (const file of ['', '{', '[]', 'null', '{}', '{"model": {"type": "BPE"}}']) {
    assert.throws(() => ModelTokenizer.open(file, 4096), { code: 'tokenizer_invalid' }, file);
  }
});

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, use_regex: true };
/** @type {[string, Record<string, unknown>][]} */
const REFUSED = [
  ['normalizer (NFKC)', { normalizer: { type: 'NFKC' } }],
  ['normalizer (Lowercase)', { normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }] } }],
  ['normalizer (Precompiled)', { normalizer: { type: 'Precompiled', precompiled_charsmap: '' } }],
  ['Replace with a pattern', { normalizer: { type: 'Replace', pattern: { Regex: ' +' }, content: '_' } }],
  [
    'Replace that makes texts longer',
    {
      normalizer: {
        type: 'Sequence',
        normalizers: Array(8).fill({ type: 'Replace', pattern: { String: 'x' }, content: 'xx' }),
      },
    },
  ],
  [
    'Replace that makes texts longer',
    {
      decoder: {
        type: 'Sequence',
        decoders: [{ type: 'Replace', pattern: { String: 'x' }, content: 'x'.repeat(1000) }],
      },
    },
  ],
  ['pre_tokenizer (Whitespace)', { pre_tokenizer: { type: 'Whitespace' } }],
  ['pre_tokenizer (BertPreTokenizer)', { pre_tokenizer: { type: 'BertPreTokenizer' } }],
  [
    'pre_tokenizer (Punctuation)',
    { pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Punctuation' }, BYTE_LEVEL] } },
  ],
  [
    'ByteLevel before others',
    {
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [BYTE_LEVEL, { type: 'Digits', individual_digits: true }],
      },
    },
  ],
  [
    'Split, behavior',
    { pre_tokenizer: { type: 'Split', pattern: { String: 'a' }, behavior: 'Sideways', invert: false } },
  ],
  ['model (Unigram)', { model: { type: 'Unigram', vocab: [['a', 0]] } }],
  ['model (WordPiece)', { model: { type: 'WordPiece', vocab: {} } }],
  ['BPE, dropout', { model: { type: 'BPE', dropout: 0.1, vocab: {}, merges: [] } }],
  ['BPE, end_of_word_suffix', { model: { type: 'BPE', end_of_word_suffix: '</w>', vocab: {}, merges: [] } }],
  [
    'BPE, continuing_subword_prefix',
    { model: { type: 'BPE', continuing_subword_prefix: '##', vocab: {}, merges: [] } },
  ],
  ['BPE, unk_token', { model: { type: 'BPE', unk_token: '<unk>', vocab: {}, merges: [] } }],
  ['a number of its own', { model: { type: 'BPE', vocab: { a: 0, b: 0 }, merges: [] } }],
  ['makes no token', { model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [['a', 'b']] } }],
  ['decoder (WordPiece)', { decoder: { type: 'WordPiece' } }],
  ['decoder (CTC)', { decoder: { type: 'CTC' } }],
  [
    'decoder (Fuse Replace)',
    { decoder: { type: 'Sequence', decoders: [{ type: 'Fuse' }, { type: 'Replace' }] } },
  ],
  [
    'decoder (Strip)',
    {
      decoder: {
        type: 'Sequence',
        decoders: [{ type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 1 }],
      },
    },
  ],
  ['post_processor (RobertaProcessing)', { post_processor: { type: 'RobertaProcessing' } }],
  [
    'numbered',
    {
      added_tokens: [
        {
          id: 5000,
          content: '<x>',
          single_word: false,
          lstrip: false,
          rstrip: false,
          normalized: false,
          special: true,
        },
      ],
    },
  ],
];

test('parts that are not known to be exact are refused by their names', () => {
  for (const [name, parts] of REFUSED) {
    const refused = { code: 'tokenizer_invalid', message: new RegExp(name.replace(/[()]/g, '\\$&')) };
    assert.throws(() => ModelTokenizer.open(edited({ added_tokens: [], ...parts }), 1 << 20), refused, name);
  }
});

test('a text beyond the bound is refused, and so are marks without end', () => {
  assert.throws(() => TOKENIZER.encode('a'.repeat(MAX_TEXT + 1)), { code: 'prompt_too_long' });
  assert.throws(() => TOKENIZER.encode(`e${'\u0301\u0316'.repeat(600)}`), { code: 'text_refused' });
});

test('time grows with the length of a text, whatever it holds', () => {
  const spaced = ModelTokenizer.open(pieces(), 300);
  const seconds = (/** @type {ModelTokenizer} */ tokenizer, /** @type {string} */ text) => {
    const before = process.cpuUsage();
    tokenizer.encode(text);
    return process.cpuUsage(before).user / 1e6;
  };
  for (const part of ['a', ' ', '\n', 'ab ', '<|im_start', '😀', "'", '\u0001']) {
    for (const tokenizer of [TOKENIZER, spaced]) {
      seconds(tokenizer, part.repeat(20_000 / part.length));
      // 500,000 characters in a second; what grows with the square takes minutes.
      assert.ok(seconds(tokenizer, part.repeat(300_000 / part.length)) < 5, part);
    }
  }
});
