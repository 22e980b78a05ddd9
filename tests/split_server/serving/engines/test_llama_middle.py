"""A whole server, without sockets, whose layers llama.cpp computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from split_server.commands import main
from split_server.errors import CheckpointNotFound, EngineUnusable
from split_server.local_engine import Engine
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from split_wire.errors import CacheFull
from tests import oracle
from tests.gguf_files import as_gguf
from tests.llama_models import library

_COUNT = 8
_PROMPT = [11 + index % 60 for index in range(120)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def file(tiny_path: Path, tmp_path: Path) -> Path:
    return as_gguf(tiny_path, tmp_path / "Tiny.F32.gguf")


@pytest.fixture
def engine(file: Path) -> Iterator[Engine]:
    library()
    # 256 cells of 3 layers, 2 heads, 16 numbers each for keys and values.
    size = 256 * 3 * 2 * 2 * 16 * 4
    with Engine.load(file, engine="llama", threads=1, cache_bytes=size) as engine:
        yield engine


def test_greedy_tokens_equal_generate_alone_and_side_by_side(
    engine: Engine, tiny_path: Path
) -> None:
    prompts = [_PROMPT[:40], _PROMPT[3:40], [*_PROMPT[:30], 5, 6]]
    for prompt, result in zip(prompts, engine.generate_batch(prompts, _COUNT), strict=True):
        assert list(result.token_ids) == oracle.greedy(tiny_path, prompt, _COUNT)
        assert result.kv_reuse_ratio == 0


def test_more_than_all_cells_is_refused_and_the_next_is_served(
    engine: Engine, tiny_path: Path
) -> None:
    with pytest.raises(CacheFull):
        engine.generate(_PROMPT * 3, _COUNT)
    result = engine.generate(_PROMPT, _COUNT)
    assert list(result.token_ids) == oracle.greedy(tiny_path, _PROMPT, _COUNT)


def test_the_start_says_in_words_that_nothing_is_kept(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    library()
    with caplog.at_level("INFO"):
        parts = load_parts(ServerConfig(model=str(file), engine="llama", threads=1))
    assert parts.steps.reuse is None
    assert parts.compat is not None
    assert parts.compat.kernels["attention"].startswith("llama.cpp (")
    assert any("llama.cpp keeps none for later ones" in line for line in caplog.messages)
    parts.compat.close()


def test_what_llama_cpp_cannot_do_is_refused_in_words(tiny_path: Path, file: Path) -> None:
    with pytest.raises(CheckpointNotFound, match="is no GGUF file"):
        load_parts(ServerConfig(model=str(tiny_path), engine="llama"))
    with pytest.raises(EngineUnusable, match="--quantize is for torch"):
        load_parts(ServerConfig(model=str(file), engine="llama", quantize="int8"))


def test_torch_does_not_take_the_layers_of_a_split_file(file: Path, tmp_path: Path) -> None:
    from split_server.checkpoint.gguf.importing import imported_folder

    folder = imported_folder(file, tmp_path / "split", split=True)
    with pytest.raises(EngineUnusable, match="which torch does not read"):
        load_parts(ServerConfig(model=str(folder), compat=False))


def test_the_plan_tells_cells(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", str(file), "--engine", "llama"]) == 0
    told = capsys.readouterr().out
    assert "cells of f32" in told
    assert "cells of all sessions        8,192" in told
