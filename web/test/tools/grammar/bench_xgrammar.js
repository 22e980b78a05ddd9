// The same as bench.js of the npm package @mlc-ai/web-xgrammar, which lies in FOLDER:
//   npm install --prefix FOLDER @mlc-ai/web-xgrammar@0.1.27
//   node test/tools/grammar/bench_xgrammar.js FOLDER [ROWS ...]
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { randomNumbers } from '../../generation/random.js';
import { FORMS } from '../../grammar/forms.js';
import { madeUp } from './vocabulary.js';

const TOKENS = 400;
const [folder, ...rows] = process.argv.slice(2);
const file = `${folder}/node_modules/@mlc-ai/web-xgrammar/lib/index.js`;
// Its bundle asks for what only older modules of Node.js have.
Object.assign(globalThis, { require: createRequire(import.meta.url), __filename: file, __dirname: folder });
await import(pathToFileURL(file).href);
const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = /** @type {any} */ (globalThis).xgrammar;

/** @param {string} name @param {number} from */
const since = (name, from) => ({ [name]: Number((performance.now() - from).toFixed(2)) });

/**
 * Its bytes as the package takes them: bytes that are no text by their number.
 * @param {{bytes: Uint8Array, offsets: Uint32Array}} tokens
 */
function fallback({ bytes, offsets }) {
  return Array.from({ length: offsets.length - 1 }, (_, id) => {
    const own = bytes.subarray(offsets[id], offsets[id + 1]);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(own);
    } catch {
      return Array.from(own, (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`).join('');
    }
  });
}

for (const size of rows.length ? rows.map(Number) : [49152, 151936]) {
  const tokens = madeUp(size);
  const began = performance.now();
  const info = await TokenizerInfo.createTokenizerInfo(fallback(tokens), 'byte_fallback', false, size, tokens.eos);
  const compiler = await GrammarCompiler.createGrammarCompiler(info, false);
  console.log(JSON.stringify({ rows: size, ...since('taken', began) }));
  for (const [form, asked] of Object.entries(FORMS)) {
    if (asked.kind !== 'json_schema') continue;
    const compiling = performance.now();
    const grammar = await compiler.compileJSONSchema(asked.text, false, -1, [', ', ': '], true);
    const compiled = since('compiled', compiling);
    const next = randomNumbers(2);
    let matcher = await GrammarMatcher.createGrammarMatcher(grammar);
    const took = [];
    for (let count = 0; count < TOKENS; count++) {
      if (matcher.isTerminated()) matcher = await GrammarMatcher.createGrammarMatcher(grammar);
      const from = performance.now();
      const mask = await matcher.getNextTokenBitmask();
      took.push(performance.now() - from);
      const allowed = [];
      for (let id = 0; id < size; id++) if ((mask[id >> 5] >>> (id & 31)) & 1) allowed.push(id);
      if (!allowed.length || !matcher.acceptToken(allowed[Math.floor(next() * allowed.length)])) {
        matcher = await GrammarMatcher.createGrammarMatcher(grammar);
      }
    }
    const sorted = took.sort((a, b) => a - b);
    const [median, p99, worst] = [TOKENS >> 1, Math.floor(TOKENS * 0.99), TOKENS - 1].map((at) => Number(sorted[at].toFixed(2)));
    console.log(JSON.stringify({ form, ...compiled, median, p99, worst }));
  }
}
const code = readFileSync(file);
console.log(JSON.stringify({ code: code.length, gzip: gzipSync(code).length }));
