import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { test } from 'node:test';

const STATIC = new URL('../../static/', import.meta.url);
const manifest = JSON.parse(await readFile(new URL('manifest.webmanifest', STATIC), 'utf8'));
const page = await readFile(new URL('index.html', STATIC), 'utf8');

test('the manifest has what browsers ask of an app that can be installed', () => {
  assert.equal(manifest.start_url, '/');
  assert.equal(manifest.scope, '/');
  assert.equal(manifest.display, 'standalone');
  assert.ok(manifest.name && manifest.short_name.length <= 12);
  const sizes = manifest.icons.map((/** @type {any} */ icon) => `${icon.sizes} ${icon.purpose ?? 'any'}`);
  for (const size of ['192x192 any', '512x512 any', '512x512 maskable']) {
    assert.ok(sizes.includes(size), size);
  }
});

test('what is shared comes as a POST, which no address and no log holds', () => {
  const { action, method, enctype } = manifest.share_target;
  assert.deepEqual([action, method, enctype], ['/share', 'POST', 'multipart/form-data']);
});

test('every icon is there in the size that the manifest names', async () => {
  for (const { src, sizes, type } of manifest.icons) {
    const content = await readFile(new URL(`.${src}`, STATIC));
    if (type === 'image/svg+xml') assert.match(content.toString(), /^<svg [^>]*viewBox="0 0 512 512"/);
    // Width and height stand in the header chunk (PNG, ISO/IEC 15948).
    else assert.equal(`${content.readUInt32BE(16)}x${content.readUInt32BE(20)}`, sizes);
  }
});

test('the icons that the page names are there', async () => {
  const named = [...page.matchAll(/href="(\/icons\/[^"]+)"/g)].map(([, path]) => path);
  assert.equal(named.length, 2);
  for (const path of named) assert.ok((await stat(new URL(`.${path}`, STATIC))).size > 0, path);
});

test('pictures are small and load nothing', async () => {
  for (const { src } of manifest.icons) {
    const content = await readFile(new URL(`.${src}`, STATIC));
    assert.ok(content.length < 8000, src);
    if (src.endsWith('.svg')) assert.doesNotMatch(content.toString(), /href|url\(|<script|<image|on\w+=/);
  }
});
