"""The memory plan as people meet it: the command, the start, and a server with little memory."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path

import pytest

from scripts.bench.memory_plan import run as memory_plan
from scripts.bench.shapes import SHAPES
from split_server.cli import main
from split_server.errors import ModelTooLarge
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE

_MIB = 1 << 20
# Of the first few some are refused already.
_REQUESTS, _LIMIT, _LONGEST = (40, 1_400_000_000, 6144) if EXHAUSTIVE else (8, 1_100_000_000, 2048)


def test_plan_prints_what_fits_without_loading_the_model(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--model", str(tiny_path)]) == 0
    output = capsys.readouterr().out
    assert re.search(r"cache of one token +768 bytes", output)
    assert "longest single context" in output
    assert "512 of 512 tokens" in output


def test_plan_follows_dtype_and_limit(tiny_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--model", str(tiny_path), "--dtype", "bfloat16"]) == 0
    assert re.search(r"cache of one token +384 bytes", capsys.readouterr().out)
    assert main(["plan", "--model", str(tiny_path), "--memory-limit", "1"]) == 0
    output = capsys.readouterr().out
    assert "limited by: --memory-limit" in output
    assert "0 of 512 tokens" in output


def test_a_model_that_cannot_fit_is_refused_before_it_is_loaded(tiny_path: Path) -> None:
    with pytest.raises(ModelTooLarge, match="limited by: --memory-limit"):
        load_parts(ServerConfig(model=str(tiny_path), memory_limit=1))


def test_the_start_tells_what_fits_in_one_line(
    tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "split_server.serving.plan"):
        parts = load_parts(ServerConfig(model=str(tiny_path), cache_bytes=10 * _MIB, compat=False))
    [line] = [record.getMessage() for record in caplog.records if "memory:" in record.getMessage()]
    assert "10 for caches" in line
    assert parts.memory is not None
    assert parts.memory()["caches"]["budget"] == 10 * _MIB


def test_without_a_budget_caches_get_what_the_plan_leaves(tmp_path: Path) -> None:
    path = tiny_checkpoint("llama", tmp_path / "llama")
    parts = load_parts(ServerConfig(model=str(path), compat=False))
    assert parts.memory is not None
    report = parts.memory()
    room = report["limit"]["free"] - report["limit"]["kept_free"]
    assert 0.5 * room < report["caches"]["budget"] <= 1.1 * room


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts mappings on Linux")
def test_random_requests_never_end_a_server_with_little_memory_and_are_rightly_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = {"requests": _REQUESTS, "limit": _LIMIT, "longest": _LONGEST, "linears": "plain"}
    flags = [f"--{name}={value}" for name, value in asked.items()]
    monkeypatch.setattr(sys, "argv", ["memory_plan", *flags, "--json"])
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setitem(SHAPES, "fat", {})
    memory_plan.main()
    out, err = capfd.readouterr()
    result = json.loads(out.splitlines()[-1])
    assert result["died"] == 0, err
    assert result["requests"] == _REQUESTS
    assert result["steps_refused"] > 0
    assert result["wrong"] == 0, result
    assert result["failed"] == 0
