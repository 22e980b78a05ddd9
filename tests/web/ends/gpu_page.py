"""A page with the LM head on a GPU that the processor plays: correct, and slow."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import Page

from tests.web.ends.page import EndsPage, served

# Chromium's SwiftShader, which --disable-gpu leaves there.
GPU_FLAGS = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
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


class GpuPage(EndsPage):
    """Its worker takes GPU jobs."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "/gpu.js")


def served_gpu_page(folder: Path) -> AbstractContextManager[str]:
    """The address of the page, on loopback: WebGPU wants a secure context."""
    return served(folder, _BUILD)
