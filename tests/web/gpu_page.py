"""A page with the LM head on a GPU that the processor plays: correct, and slow."""

from __future__ import annotations

import functools
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.web.browsing import node

_WEB = Path(__file__).parents[2] / "web"
# Chromium's SwiftShader, which --disable-gpu leaves there.
GPU_FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
_ASK = """(message) => new Promise((resolve, reject) => {
  const worker = (window.engine ??= new Worker('/gpu.js', { type: 'module' }));
  worker.onmessage = ({ data: { error, result } }) =>
    error ? reject(new Error(error)) : resolve(result);
  worker.onerror = (event) => reject(new Error(event.message));
  worker.postMessage(message);
})"""
_BUILD = """
import { build } from 'esbuild';
import { writeFile } from 'node:fs/promises';
import { KERNEL_NAMES } from './kernels.mjs';
import { readModule } from './test/ends/fixtures.js';
const out = process.argv[1];
const entryPoints = ['test/ends/page/gpu.js', 'test/ends/page/gpu_ends.js'];
await build({ entryPoints, outdir: out, bundle: true, format: 'esm', logLevel: 'warning' });
for (const name of KERNEL_NAMES) await writeFile(out + '/' + name, await readModule(name));
"""


class GpuPage:
    """A page whose worker has the ends."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask(self, job: str, **options: Any) -> Any:
        return self._page.evaluate(_ASK, {"job": job, **options})


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def served_gpu_page(folder: Path) -> Iterator[str]:
    """The address of the page, on loopback: WebGPU wants a secure context."""
    command = [node(), "--input-type=module", "--eval", _BUILD, str(folder)]
    subprocess.run(command, cwd=_WEB, check=True)
    (folder / "index.html").write_text("<!doctype html><title>ends</title>")
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # A connection that the browser opened to no purpose must not be waited for.
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()
