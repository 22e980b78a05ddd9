// Builds the web app:  node build.mjs [--out FOLDER] [--check]
//
// --check builds beside and compares with what is committed in FOLDER; exit 1 where they differ.
import { build } from 'esbuild';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { TARGET } from './floor.mjs';
import { KERNEL_NAMES, compileKernel } from './kernels.mjs';
import { sharedParts } from './shared_parts.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const COMMITTED = join(HERE, '../server/split_server/web_app');

// A worker is a file of its own: pages and workers load it by its name beside theirs. Those of one group fetch what
// they share once; where that is little, a file of its own would cost more.
const GROUPS = [
  { app: 'src/ui/main.jsx' },
  { engine: 'src/engine/worker.js', ends: 'src/ends/worker.js' },
  { template: 'src/text/template/worker.js' },
  { grammar: 'src/grammar/worker.js' },
  { crypto: 'src/crypto/worker.js' },
  { rendering: 'src/markdown/rendering/worker.js' },
  { redaction: 'src/redaction/apart/worker.js' },
  { pair: 'src/pairing/page.js' },
];
const ROOTS = {
  'src/ui/': 'src/ui/start.jsx',
  'src/engine/': 'src/engine/engine.js',
  'src/generation/': 'src/engine/engine.js',
  'src/weights/': 'src/engine/engine.js',
  'src/ends/': 'src/ends/here.js',
};
const SERVICE_WORKER = { 'service-worker': 'src/pwa/service_worker.js' };
const STYLES = { app: 'src/ui/app.css', rendered: 'src/ui/rendered.css', tint: 'src/ui/tint.css', pair: 'src/pairing/pair.css' };
// Before anything else in every script, as the server's policy has Trusted Types on.
const INJECTED = ['src/common/trusted_types.js'];
const LICENCES = 'licences.txt';
const BROTLI = '.br';

const bundling = {
  absWorkingDir: HERE,
  bundle: true,
  format: 'esm',
  minify: true,
  target: TARGET,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  // Private by name in all of the source, so shorter names in what is sent are nobody's loss.
  mangleProps: /^_[a-z]/,
  logLevel: 'warning',
};

/** Writes the whole app into `out`. @param {string} out */
async function buildInto(out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(join(out, 'app'), { recursive: true });
  await cp(join(HERE, 'static'), out, { recursive: true });
  const inputs = await buildScripts(join(out, 'app'));
  await dropEmptyChunks(join(out, 'app'));
  await writeFile(join(out, LICENCES), await licences(inputs));
  await build({ ...bundling, entryPoints: STYLES, outdir: join(out, 'app') });
  await build({ ...bundling, format: 'iife', entryPoints: SERVICE_WORKER, outdir: out });
  for (const name of KERNEL_NAMES) await compileKernel(name, join(out, 'app', name));
  await compressInto(join(out, 'app'));
}

/**
 * Where two scripts share nothing but constants, which are written out in each, esbuild leaves an empty file
 * that both import: a request for nothing.
 * @param {string} folder
 */
async function dropEmptyChunks(folder) {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const texts = new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])));
  const empty = names.filter((name) => !texts.get(name).trim());
  for (const name of empty) await rm(join(folder, name));
  for (const [name, text] of texts) {
    const without = empty.reduce((left, gone) => left.replace(`import"./${gone}";`, ''), text);
    if (without !== text) await writeFile(join(folder, name), without);
  }
}

/** @param {string} outdir @returns {Promise<string[]>} paths of the source files that the scripts hold */
async function buildScripts(outdir) {
  const inputs = [];
  /** @type {Record<string, string | false>} */
  let mangleCache = {};
  for (const entryPoints of GROUPS) {
    const built = await build({
      ...bundling,
      inject: INJECTED,
      splitting: true,
      plugins: [sharedParts(HERE, ROOTS)],
      entryPoints,
      outdir,
      metafile: true,
      // A name that two groups share stays one name.
      mangleCache,
    });
    mangleCache = built.mangleCache ?? {};
    inputs.push(...Object.keys(built.metafile.inputs));
  }
  return inputs;
}

/** Writes NAME.br beside every file of `folder`; the server has no encoder of its own. @param {string} folder */
async function compressInto(folder) {
  for (const name of await readdir(folder)) {
    await writeFile(join(folder, name + BROTLI), brotliCompressSync(await readFile(join(folder, name))));
  }
}

/**
 * The licences of the packages that the scripts hold parts of, which ask to be with every copy.
 * @param {string[]} inputs paths of source files @returns {Promise<string>}
 */
async function licences(inputs) {
  const packages = inputs.map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const names = [...new Set(packages)].filter((name) => name !== undefined).sort();
  const texts = names.map(async (name) => {
    const folder = join(HERE, 'node_modules', name);
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name}: no licence file`);
    return `${name}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param {string} folder @returns {Promise<Map<string, Buffer>>} */
async function contents(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const pairs = files.map(async (file) => {
    const path = join(file.parentPath, file.name);
    const bytes = await readFile(path);
    // Versions of the encoder differ; what it stands for does not.
    const meant = path.endsWith(BROTLI) ? brotliDecompressSync(bytes) : bytes;
    return /** @type {const} */ ([relative(folder, path), meant]);
  });
  return new Map(await Promise.all(pairs));
}

/** Names of files that are not the same in both folders. @param {string} a @param {string} b */
async function differences(a, b) {
  const [left, right] = await Promise.all([contents(a), contents(b)]);
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].filter((name) => !left.get(name)?.equals(right.get(name) ?? Buffer.of(0)));
}

const { values } = parseArgs({ options: { out: { type: 'string' }, check: { type: 'boolean' } } });
const out = resolve(values.out ?? COMMITTED);
if (values.check) {
  const beside = await mkdtemp(join(tmpdir(), 'gatelink-web-'));
  await buildInto(beside);
  const differing = await differences(beside, out);
  await rm(beside, { recursive: true });
  if (differing.length) {
    console.error(`build: not what the source gives: ${differing.join(', ')}; run npm run build`);
    process.exit(1);
  }
} else {
  await buildInto(out);
}
