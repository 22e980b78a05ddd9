// The page with a fake engine, for tests of what it looks like and how it is used:
//   node test/tools/fake_page/build.mjs FOLDER
import { build } from 'esbuild';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const out = process.argv[2];
await mkdir(join(out, 'app/test'), { recursive: true });
await build({
  absWorkingDir: web,
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  target: ['chrome111'],
  minify: true,
  inject: ['src/common/trusted_types.js'],
  splitting: true,
  entryPoints: { app: 'test/tools/fake_page/page.js', rendering: 'src/markdown/rendering/worker.js', grammar: 'src/grammar/worker.js', redaction: 'src/redaction/apart/worker.js' },
  outdir: join(out, 'app/test'),
});
await build({
  absWorkingDir: web,
  bundle: true,
  minify: true,
  entryPoints: { app: 'src/ui/app.css', rendered: 'src/ui/rendered.css', tint: 'src/ui/tint.css' },
  outdir: join(out, 'app/test'),
});
const page = await readFile(join(web, 'static/index.html'), 'utf8');
await writeFile(join(out, 'index.html'), page.replaceAll('%BUILD%', 'test'));
await cp(join(web, 'static/icons'), join(out, 'icons'), { recursive: true });
await cp(join(web, 'node_modules/axe-core/axe.min.js'), join(out, 'axe.min.js'));
