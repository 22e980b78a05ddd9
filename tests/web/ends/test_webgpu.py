"""The LM head's estimates on a GPU, in a real Chromium whose GPU is software: right, not fast."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from playwright.sync_api import Error
from transformers import AutoTokenizer

from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.spec import HeadSpec
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import running_server
from tests.split_client.generation.weights import write_rows
from tests.web.browsing import Browser, launched
from tests.web.ends.gpu_page import GPU_FLAGS, GpuPage, served_gpu_page
from tests.web.generation_peers import as_base64

_BLOCK = 64
_CHAT = [{"role": "user", "content": "What is split inference?"}]
_NEW_TOKENS = 40
# Of the sum over blocks of the largest weight times the largest activation: what float32 may round
# there, and less than a single level of a single weight.
_ROUNDING = 2.0**-14


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_gpu_page(tmp_path_factory.mktemp("gpu")) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = f"--host-resolver-rules=MAP {_PLAIN} 127.0.0.1"
    with launched(*GPU_FLAGS, names) as browser:
        yield browser


@pytest.fixture(scope="module")
def page(browser: Browser, url: str) -> Iterator[GpuPage]:
    with browser.new_page() as page:
        page.goto(url)
        ends = GpuPage(page)
        if ends.ask("adapter") is None:
            # In CI what is missing fails.
            missing = pytest.fail if os.environ.get("CI") else pytest.skip
            missing("this Chromium has no WebGPU adapter, not even SwiftShader")
        yield ends


# A worker of the built app, over a table of 128 rows that the page gives it.
_BUILT = """(address) => new Promise((resolve, reject) => {
  const table = Float32Array.from({ length: 128 * 64 }, (_, i) => Math.sin(i * i));
  const shard = { kind: 'memory', path: ['t', '0'], first: 0, rows: 128, rowBytes: 256,
    bytes: new Uint8Array(table.buffer) };
  const share = { hidden: 64, head: { shard, dtype: 'f32' }, embedding: null, compact: true,
    bias: null, kernel: 'auto', gpu: 'always', workers: 1 };
  const worker = new Worker(address, { type: 'module' });
  worker.onerror = (event) => reject(new Error(event.message));
  worker.onmessage = ({ data }) => data.progress === undefined && resolve(data);
  worker.postMessage({ id: 0, type: 'open', share });
})"""

_ON_GPU = {"id": 0, "result": {"kernel": "webgpu", "gpuLost": False, "scarce": False}}
# A name that is no secure context.
_PLAIN = "plain.test"


class Reply(NamedTuple):
    """Of the embedded model, greedy: each token and the hidden state that it follows from."""

    table: np.ndarray
    states: np.ndarray
    tokens: list[int]

    def given_to(self, page: GpuPage, kernel: str) -> str:
        """Opens the ends over the table; the kernel that they run."""
        table, (rows, hidden) = as_base64(self.table), self.table.shape
        shape = {"rows": rows, "hidden": hidden, "dtype": "f32"}
        opened: str = page.ask("open", table=table, kernel=kernel, **shape)
        return opened

    def tops(self, page: GpuPage, **options: Any) -> list[dict[str, Any]]:
        hidden = self.states.shape[1]
        found: list[dict[str, Any]] = page.ask(
            "tops", states=as_base64(self.states), hidden=hidden, k=50, **options
        )
        return found


@pytest.fixture(scope="module")
def reply() -> Reply:
    tokenizer, model = AutoTokenizer.from_pretrained(EMBEDDED), oracle.model(EMBEDDED)
    prompt = tokenizer.apply_chat_template(_CHAT, add_generation_prompt=True)["input_ids"]
    tokens = list(oracle.greedy(EMBEDDED, list(prompt), _NEW_TOKENS))
    with torch.inference_mode():
        states = model.model(torch.tensor([[*prompt, *tokens]])).last_hidden_state[0].numpy()
    table = model.get_output_embeddings().weight.detach().numpy()
    return Reply(table, states[len(prompt) - 1 : -1], tokens)


def _hard(rng: np.random.Generator, rows: int, hidden: int) -> np.ndarray:
    """Rows and columns of all sizes, rows of zeros, rows whose levels are the extreme ones."""
    weights = rng.standard_normal((rows, hidden), dtype=np.float32)
    weights *= 2 ** rng.uniform(-20, 20, (rows, 1)).astype(np.float32)
    weights[:, ::48] *= np.float32(2.0**-7)
    weights[20:30] = 0
    weights[30:40] = np.sign(weights[30:40])
    weights[40] = -1
    weights[41, :_BLOCK] = 0
    return weights


def _bound(weights: np.ndarray, state: np.ndarray) -> np.ndarray:
    """For every row the sum over blocks of the largest weight times the largest activation."""
    blocks = -(-weights.shape[1] // _BLOCK)
    padding = (0, blocks * _BLOCK - weights.shape[1])
    wide = np.pad(np.abs(weights.astype(np.float64)), ((0, 0), padding))
    peaks = wide.reshape(len(weights), blocks, _BLOCK).max(2)
    return peaks @ np.pad(np.abs(state.astype(np.float64)), padding).reshape(blocks, _BLOCK).max(1)


def _floats(bits: list[int]) -> np.ndarray:
    return np.array(bits, np.uint32).view(np.float32).astype(np.float64)


# `packed`: with one instruction for four products of int8, which not all browsers know.
@pytest.mark.parametrize(
    ("rows", "hidden", "packed"),
    [(1, 64, True), (1_003, 210, True), (1_003, 210, False), (300, 896, True)],
)
def test_the_estimates_are_those_of_webassembly(
    page: GpuPage, rows: int, hidden: int, packed: bool
) -> None:
    rng = np.random.default_rng(hidden)
    for weights in (
        rng.standard_normal((rows, hidden), dtype=np.float32),
        _hard(rng, max(rows, 50), hidden),
    ):
        state = rng.standard_normal(hidden, dtype=np.float32)
        state[3] = 200
        answer = page.ask(
            "estimates",
            table=as_base64(weights),
            rows=len(weights),
            state=as_base64(state),
            packed=packed,
        )
        found, expected = _floats(answer["found"]), _floats(answer["expected"])
        assert np.abs(expected).max() > 0
        assert np.all(np.abs(found - expected) <= _ROUNDING * _bound(weights, state))


def test_a_plane_that_no_binding_can_hold_is_cut(page: GpuPage) -> None:
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((1_000, 130), dtype=np.float32)
    state = rng.standard_normal(130, dtype=np.float32)
    request = {"table": as_base64(weights), "rows": 1_000, "state": as_base64(state)}
    whole = page.ask("estimates", packed=True, **request)
    # 16 groups of 64 rows, 3 blocks of 32 bytes each; five groups to a binding.
    cut = page.ask("estimates", packed=True, largest=5 * 64 * 3 * 32 + 100, **request)
    assert (whole["parts"], cut["parts"]) == (1, 4)
    assert cut["found"] == whole["found"]


def test_estimates_that_could_overflow_are_not_numbers(page: GpuPage) -> None:
    weights = np.full((100, 64), 2.0**100, np.float32)
    state = np.full(64, 2.0**10, np.float32)
    for size, finite in ((1.0, True), (2.0**30, False)):
        answer = page.ask(
            "estimates",
            table=as_base64(weights),
            rows=100,
            state=as_base64(state * np.float32(size)),
            packed=True,
        )
        assert np.isfinite(_floats(answer["found"])).all() == finite
        assert np.isfinite(_floats(answer["expected"])).all() == finite


def test_greedy_tokens_and_tops_are_those_of_the_exact_head(
    tmp_path: Path, page: GpuPage, reply: Reply
) -> None:
    exact = ExactLMHead(write_rows(tmp_path / "w", reply.table, "f32"), HeadSpec())
    assert reply.given_to(page, "webgpu") == "webgpu"
    tops = reply.tops(page)
    page.ask("close")
    assert [top["ids"][0] for top in tops] == reply.tokens
    assert {top["kernel"] for top in tops} == {"webgpu"}
    for state, top in zip(reply.states, tops, strict=True):
        assert top["ids"] == exact.top(state, 50).ids.tolist()


def test_a_device_that_goes_away_in_mid_reply_changes_no_token(page: GpuPage, reply: Reply) -> None:
    assert reply.given_to(page, "webgpu") == "webgpu"
    tops = reply.tops(page, destroyAt=12)
    page.ask("close")
    assert [top["ids"][0] for top in tops] == reply.tokens
    assert {top["kernel"] for top in tops[:13]} == {"webgpu"}
    assert {top["kernel"] for top in tops[13:]} <= {"relaxed", "simd"}


def test_a_browser_whose_gpu_process_dies_goes_on_with_the_same_tokens(
    page: GpuPage, url: str, reply: Reply
) -> None:
    with launched(*GPU_FLAGS) as crashing:
        tab = crashing.new_page()
        tab.goto(url)
        own = GpuPage(tab)
        assert reply.given_to(own, "webgpu") == "webgpu"
        assert [top["ids"][0] for top in reply.tops(own)] == reply.tokens
        processes = crashing.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
        (gpu,) = (entry["id"] for entry in processes["processInfo"] if entry["type"] == "GPU")
        os.kill(gpu, signal.SIGKILL)
        tops = reply.tops(own)
        assert [top["ids"][0] for top in tops] == reply.tokens
        assert tops[-1]["kernel"] in ("relaxed", "simd")


def test_software_is_not_taken_where_nobody_insists(page: GpuPage, reply: Reply) -> None:
    assert reply.given_to(page, "auto") in ("relaxed", "simd")
    assert [top["ids"][0] for top in reply.tops(page)] == reply.tokens
    page.ask("close")


def test_without_a_secure_context_there_is_no_gpu(browser: Browser, url: str, reply: Reply) -> None:
    with browser.new_page() as plain:
        plain.goto(url.replace("127.0.0.1", _PLAIN))
        assert plain.evaluate("isSecureContext") is False
        page = GpuPage(plain)
        assert reply.given_to(page, "auto") in ("relaxed", "simd")
        page.ask("close")
        with pytest.raises(Error, match="kernel_unavailable"):
            reply.given_to(page, "webgpu")


def test_the_built_app_fetches_its_gpu_code_under_its_policy(
    browser: Browser, page: GpuPage, web_root: Path, tiny_path: Path
) -> None:
    with (
        running_server(tiny_path, web_root=str(web_root)) as server,
        server.client() as client,
        browser.new_page() as app,
    ):
        listed = client.get("/app-files.json").json()["files"]
        (address,) = (path for path in listed if path.endswith("/ends.js"))
        app.goto(server.url)
        assert app.evaluate(_BUILT, address) == _ON_GPU
