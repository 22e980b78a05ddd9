"""The web app's LM head: its plane against Python's, and in a real Chromium against exact heads."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page
from transformers import AutoTokenizer

from split_client.generation.head.compact.build import build_plane
from split_client.generation.head.compact.file import BLOCK, PlaneShape, read_plane
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_server.checkpoint.folder import EMBEDDED
from split_wire.floats import FloatName
from tests import oracle
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.generation.weights import write_rows
from tests.web.browsing import Browser, profile
from tests.web.ends.page import EndsPage, served
from tests.web.generation_peers import as_base64, ask

_REPOSITORY = Path(__file__).parents[3]
_HEADER = 64
_BUILD = """
import { build } from 'esbuild';
import { KERNEL_NAMES, compileKernel } from './kernels.mjs';
const out = process.argv[1];
const entryPoints = { ends: 'src/ends/worker.js', engine: 'test/ends/page/engine.js' };
await build({ entryPoints, outdir: out, bundle: true, format: 'esm', logLevel: 'warning' });
for (const name of KERNEL_NAMES) await compileKernel(name, out + '/' + name);
"""
CHATS = (
    "What is split inference?",
    "Who are you?",
    "What can the server see of my chat?",
    "How do I open a bank account?",
)


class HeadPage(EndsPage):
    """Its worker opens heads."""

    def __init__(self, page: Page) -> None:
        super().__init__(page, "/engine.js")

    def open(self, rows: WeightRows, dtype: FloatName, kernel: str) -> dict[str, Any]:
        table = base64.b64encode(rows.path.read_bytes()).decode()
        shape = {"rows": rows.rows, "hidden": rows.hidden, "dtype": dtype}
        opened: dict[str, Any] = self.ask(
            "open", table=table, kernel=kernel, compactFrom=1, **shape
        )
        return opened


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("lm-head"), _BUILD) as address:
        yield address


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[HeadPage]:
    context = chromium.new_context()
    page = context.new_page()
    page.goto(url)
    yield HeadPage(page)
    context.close()


@pytest.fixture(scope="module")
def hidden_states() -> np.ndarray:
    """After the final norm, for every token of prompts and greedy replies, [n, hidden]."""
    tokenizer, model = AutoTokenizer.from_pretrained(EMBEDDED), oracle.model(EMBEDDED)
    found = []
    for text in CHATS:
        message = [{"role": "user", "content": text}]
        prompt = tokenizer.apply_chat_template(message, add_generation_prompt=True)["input_ids"]
        ids = [*prompt, *oracle.greedy(EMBEDDED, list(prompt), 32)]
        with torch.inference_mode():
            found.append(model.model(torch.tensor([ids])).last_hidden_state[0].numpy())
    return np.concatenate(found)


def test_the_levels_of_the_plane_are_those_of_the_python_client(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((3_001, 150), dtype=np.float32)
    weights *= 2 ** rng.uniform(-6, 6, (3_001, 1)).astype(np.float32)
    weights[:, ::48] *= np.float32(2.0**-7)
    weights[20:30] = np.rint(weights[20:30])  # many of one size and either sign
    weights[40] = 0
    rows = write_rows(tmp_path / "w", weights, "f32")
    shape = PlaneShape(rows.rows, rows.hidden, bytes(32))
    build_plane(tmp_path / "plane", rows, shape)
    expected = read_plane(tmp_path / "plane", shape)

    answer = ask("plane.js", {"table": as_base64(weights), "rows": len(weights)})
    raw = np.frombuffer(base64.b64decode(answer["plane"]), np.uint8)
    columns, body = np.split(raw[_HEADER:], [4 * shape.padded_hidden])
    assert np.array_equal(columns.view("<f4"), expected.column_scale)
    levels, scale = (part[: len(weights)] for part in _read_groups(body, shape.blocks))
    low, high = expected.levels & 15, expected.levels >> 4
    neighbours = np.stack([low, high], axis=-1).reshape(len(weights), shape.blocks, BLOCK)
    assert np.array_equal(levels[expected.scale != 0], neighbours[expected.scale != 0])
    # bf16 keeps eight bits.
    np.testing.assert_allclose(scale, expected.scale, rtol=2.0**-8)


def _read_groups(body: np.ndarray, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Levels + 8 [rows, blocks, 64] and scales [rows, blocks]; layout: web/wasm/plane.ts."""
    groups = body.reshape(-1, blocks, 272)
    fours = groups[..., :256].reshape(-1, blocks, 8, 8, 4)
    eights = np.concatenate([fours & 15, fours >> 4], axis=-1)
    levels = eights.transpose(0, 3, 1, 2, 4).reshape(-1, blocks, BLOCK)
    halves = np.ascontiguousarray(groups[..., 256:]).view("<u2").reshape(-1, blocks, 4, 2)
    scales = (halves.astype(np.uint32) << 16).view(np.float32)
    return levels, scales.transpose(0, 3, 2, 1).reshape(-1, blocks)


def test_all_kernels_give_the_same_bits_in_chromium(page: HeadPage) -> None:
    for hidden in (64, 210, 896):
        plain, by_pairs, by_fours = page.ask("estimates", hidden=hidden, rows=400)
        assert len(set(plain)) > 100
        assert by_pairs == plain
        assert by_fours == plain


@pytest.mark.parametrize("kernel", ["simd", "relaxed"])
def test_the_top_is_that_of_the_exact_head_for_every_token_of_the_embedded_model(
    tmp_path: Path, hidden_states: np.ndarray, page: HeadPage, kernel: str
) -> None:
    table = oracle.model(EMBEDDED).get_output_embeddings().weight.detach().numpy()
    rows = write_rows(tmp_path / "w", table, "f16")
    exact, wide = ExactLMHead(rows, HeadSpec()), rows.block(0, rows.rows).astype(np.float64)
    assert page.open(rows, "f16", kernel) == {"kernel": kernel, "workers": 2}
    tops = page.ask("tops", states=as_base64(hidden_states), hidden=rows.hidden, k=50)
    for hidden, found in zip(hidden_states, tops, strict=True):
        assert found is not None  # every one came from a shortlist
        assert found["ids"] == exact.top(hidden, 50).ids.tolist()
        truth = wide[found["ids"]] @ hidden.astype(np.float64)
        np.testing.assert_allclose(found["logits"], truth, rtol=2.0**-23, atol=1e-12)
    assert len(hidden_states) > 150
    page.ask("close")
    assert page.ask("failure") == "ends_failed"


def test_a_private_window_keeps_rows_in_memory(page: HeadPage) -> None:
    assert page.ask("kept") == {"kept": True, "same": True}


def test_a_window_of_a_profile_reads_rows_from_its_files(tmp_path: Path, url: str) -> None:
    with profile(tmp_path) as context:
        page = context.new_page()
        page.goto(url)
        assert HeadPage(page).ask("kept") == {"kept": False, "same": True}


@pytest.mark.slow
@pytest.mark.skipif(not EXHAUSTIVE, reason="other tests compare the same heads")
def test_the_benchmark_finds_the_top_of_float64_products_from_files() -> None:
    command = [sys.executable, "-m", "scripts.bench.web.head", "--small", "--vectors", "200"]
    done = subprocess.run(
        command, cwd=_REPOSITORY, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "100.0% of 200 vectors" in done.stdout
