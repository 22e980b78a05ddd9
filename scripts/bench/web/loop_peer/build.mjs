// Bundles what ../adapter.py, ../head.py, ../redaction.py, ../rows.py and ../../round_trips run in the browser:  node build.mjs FOLDER
import { build } from '../../../../web/node_modules/esbuild/lib/main.js';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KERNEL_NAMES, compileKernel } from '../../../../web/kernels.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2];
await build({
  absWorkingDir: HERE,
  entryPoints: {
    ends: '../../../../web/src/ends/worker.js',
    crypto: '../../../../web/src/crypto/worker.js',
    adapter: 'adapter.js',
    engine: 'engine.js',
    loop: 'loop.js',
    fill: 'fill.js',
    rows: 'rows.js',
    redaction: 'redaction.js',
    trips: '../../round_trips/page.js',
  },
  outdir: out,
  bundle: true,
  format: 'esm',
  minify: true,
  logLevel: 'warning',
});
for (const name of KERNEL_NAMES) await compileKernel(name, join(out, name));
await writeFile(join(out, 'index.html'), '<!doctype html><title>bench</title>');
