// Vocabularies for tests: the embedded model's, and one of a few texts.
import { readFileSync } from 'node:fs';
import { TokenTree } from '../../src/grammar/tokens/trie.js';
import { tokenBytes } from '../../src/text/tokenizer/token_bytes.js';
import { ModelTokenizer } from '../../src/text/tokenizer/tokenizer.js';

const FILE = new URL('../../../server/split_server/embedded/tokenizer.json', import.meta.url);

/** The embedded model's tokenizer, its tree and how it writes a text. */
export function embedded() {
  const parts = JSON.parse(readFileSync(FILE, 'utf8'));
  const rows = 32 + parts.added_tokens.length + Object.keys(parts.model.vocab).length;
  const tokenizer = ModelTokenizer.open(JSON.stringify(parts), rows);
  const eos = [...tokenizer.added.byId.values()].filter((token) => token.special).map((token) => token.id);
  const bytes = tokenBytes(tokenizer, rows);
  const encode = async (/** @type {string} */ text) => tokenizer.encode(text);
  return { tokenizer, tree: new TokenTree(bytes), bytes, eos: eos.slice(0, 1), encode, rows };
}

/** Every byte, then `texts`, then an end. @param {string[]} texts bytes, one UTF-16 unit each */
export function small(texts) {
  const all = [...Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)), ...texts, ''];
  const offsets = new Uint32Array(all.length + 1);
  all.forEach((text, id) => (offsets[id + 1] = offsets[id] + text.length));
  const bytes = Uint8Array.from([...all.join('')], (unit) => unit.charCodeAt(0));
  return { tree: new TokenTree({ bytes, offsets }), eos: [all.length - 1], encode: async () => null, texts: all };
}
