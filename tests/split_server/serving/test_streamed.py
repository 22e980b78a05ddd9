"""Models larger than memory, through real servers: tokens, what is told, and disks that fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from split_server.checkpoint.folder import open_checkpoint
from split_server.engine.linears.integers.raw import raw_fault
from split_server.errors import EngineUnusable, ModelTooLarge, UnusableModel
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.planner import MemoryPlanner
from split_server.memory.streaming import fewest_streamed, streaming
from split_server.serving import plan
from split_server.serving.config import ComputeConfig, ServerConfig
from split_server.serving.startup import load_parts
from tests.checkpoints import tiny_checkpoint
from tests.server_process import running_server

_PROMPT = "What is split inference?"


def _reply(client: httpx.Client, tokens: int = 12) -> Any:
    return client.post(
        "/v1/completions", json={"prompt": _PROMPT, "temperature": 0, "max_tokens": tokens}
    ).json()


def _settings(folder: Path, **options: Any) -> dict[str, Any]:
    found = {"dtype": "float32", "linears": "plain", "web_root": "none", "kv_reuse": "off"}
    return {**found, "stream_folder": folder, **options}


def _config(path: Path, folder: Path, **options: Any) -> ServerConfig:
    return ServerConfig(model=str(path), **_settings(folder, **options))


def test_replies_are_those_of_plain_matrices_in_memory(tiny_path: Path, tmp_path: Path) -> None:
    texts = {}
    for stream in ("off", "3", "1"):
        settings = _settings(tmp_path, stream=stream)
        with running_server(tiny_path, **settings) as server, server.client() as client:
            texts[stream] = _reply(client)["choices"][0]["text"]
            told = client.get("/api/v1/memory").json()["streamed"]
        if stream == "off":
            assert told is None
        else:
            assert (told["layers"], told["resident"]) == (int(stream), 3 - int(stream))
            assert min(told["pass_bytes"], told["bytes_per_second"]) > 0
            assert told["tokens_per_second"] > 0
    assert texts["3"] == texts["1"] == texts["off"]
    assert texts["off"]


def test_replies_of_int8_layers_are_those_of_int8_in_memory(
    tiny_path: Path, tmp_path: Path
) -> None:
    if raw_fault():
        pytest.skip(raw_fault())
    texts = []
    for stream in ("off", "2"):
        settings = _settings(tmp_path, stream=stream, quantize="int8")
        with running_server(tiny_path, **settings) as server, server.client() as client:
            texts.append(_reply(client)["choices"][0]["text"])
    assert texts[0] == texts[1] != ""
    [path] = tmp_path.glob("*.layers")
    before = path.read_bytes()
    # Plain layers are others.
    assert load_parts(_config(tiny_path, tmp_path, stream="2", compat=False)).stream is not None
    assert len(list(tmp_path.glob("*.layers"))) == 2
    assert path.read_bytes() == before


def test_a_machine_that_cannot_put_packed_bytes_back_says_so(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "raw_fault", lambda: "the operator is gone")
    with pytest.raises(EngineUnusable, match=r"int8 layers .* the operator is gone"):
        load_parts(_config(tiny_path, tmp_path, stream="2", quantize="int8"))


def test_a_layer_that_rots_is_an_error_in_words_and_the_server_goes_on(
    tiny_path: Path, tmp_path: Path
) -> None:
    settings = _settings(tmp_path, stream="3")
    with running_server(tiny_path, **settings) as server, server.client() as client:
        right = _reply(client)["choices"][0]["text"]
        [path] = tmp_path.glob("*.layers")
        with path.open("r+b") as raw:
            raw.seek(-5000, os.SEEK_END)
            raw.write(b"rotten")
        answers = [_reply(client) for _ in range(3)]
        assert client.get("/health").status_code == 200
    assert all("choices" not in one for one in answers)
    assert "cannot read layer 2" in str(answers[-1])
    # The next start makes another file.
    with running_server(tiny_path, **settings) as server, server.client() as client:
        assert _reply(client)["choices"][0]["text"] == right


def test_a_file_that_rotted_between_two_starts_never_serves(
    tiny_path: Path, tmp_path: Path
) -> None:
    config = _config(tiny_path, tmp_path, stream="3", compat=False)
    assert load_parts(config).stream is not None
    [path] = tmp_path.glob("*.layers")
    with path.open("r+b") as raw:
        raw.seek(-5000, os.SEEK_END)
        raw.write(b"rotten")
    with pytest.raises(UnusableModel, match="layer 2"):
        load_parts(config)
    assert load_parts(config).stream is not None


@pytest.mark.parametrize("options", [{"quantize": "int4"}, {"quantize": "auto"}])
def test_what_cannot_be_read_from_disk_is_refused_by_name(
    tiny_path: Path, tmp_path: Path, options: dict[str, str]
) -> None:
    with pytest.raises(EngineUnusable, match="quantized"):
        load_parts(_config(tiny_path, tmp_path, stream="2", **options))


@pytest.fixture(scope="module")
def wide_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose layers are most of what it takes."""
    path = tmp_path_factory.mktemp("wide") / "wide"
    shape: dict[str, Any] = {"hidden_size": 256, "intermediate_size": 2048, "num_hidden_layers": 12}
    return tiny_checkpoint("qwen2", path, **shape)


def _planner(path: Path, free: int) -> MemoryPlanner:
    config = ComputeConfig(model=str(path), dtype="float32", device="cpu")
    planner, _ = plan.plan_memory(config, open_checkpoint(str(path)), texts=False)
    planner.limit = MemoryLimit([lambda: Room(free, "a test")])
    return planner


def test_auto_streams_as_few_layers_as_the_memory_wants(wide_path: Path) -> None:
    checkpoint = open_checkpoint(str(wide_path))
    needs = [streaming(checkpoint, 4, count).need for count in range(1, 13)]
    # Three of them in slots take more than two that stay.
    assert [need.kept for need in needs] == sorted((n.kept for n in needs), reverse=True)
    largest = streaming(checkpoint, 4, 12)
    assert (largest.resident, len(largest.numbers)) == (0, 12)
    found = {
        len(fewest_streamed(checkpoint, 4, _planner(wide_path, need.peak + (20 << 20))).numbers)
        for need in needs
    }
    assert len(found) > 3
    with pytest.raises(ModelTooLarge):
        fewest_streamed(checkpoint, 4, _planner(wide_path, needs[-1].kept))


@pytest.mark.parametrize(
    ("stream", "free", "expected"), [("auto", 1 << 40, None), ("off", 1, None)]
)
def test_nothing_is_streamed_that_fits_or_is_not_to_be(
    wide_path: Path, stream: str, free: int, expected: None
) -> None:
    config = ComputeConfig(model=str(wide_path), dtype="float32", device="cpu", stream=stream)
    checkpoint = open_checkpoint(str(wide_path))
    _, need = plan.plan_memory(config, checkpoint, texts=False)
    assert plan.plan_stream(config, checkpoint, _planner(wide_path, free), need) is None


def test_the_plan_tells_what_a_pass_reads(wide_path: Path) -> None:
    config = ComputeConfig(model=str(wide_path), dtype="float32", device="cpu", stream="5")
    lines = plan.described_plan(config, open_checkpoint(str(wide_path)))
    assert any("7 of 12" in line for line in lines)
    assert any("read from disk each pass" in line for line in lines)
