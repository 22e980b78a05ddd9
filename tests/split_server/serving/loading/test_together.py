"""``split-server plan`` of several models: each of them, and which fit together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from split_server.commands import main
from split_server.memory.planner import RESERVE
from split_server.serving.loading.together import Share, described_sets, left_for_caches

_MIB = 1 << 20


def _share(name: str, kept: int, peak: int = 0, texts: int = 0, workspace: int = 0) -> Share:
    sizes = (kept, max(peak, kept), texts, workspace)
    return Share(name, *(size * _MIB for size in sizes))


def test_weights_and_texts_add_up_and_one_pass_runs_at_a_time() -> None:
    chosen = [_share("a", 10, texts=3, workspace=20), _share("b", 30, texts=4, workspace=5)]
    assert left_for_caches(chosen, RESERVE + 100 * _MIB) == 33 * _MIB


def test_what_a_load_takes_on_the_way_has_to_fit_too() -> None:
    chosen = [_share("a", 10), _share("b", 30, peak=90)]
    assert left_for_caches(chosen, RESERVE + 100 * _MIB) == 60 * _MIB
    assert left_for_caches(chosen, RESERVE + 99 * _MIB) == -_MIB


def test_every_set_with_the_first_model_is_told() -> None:
    shares = [_share("a", 10), _share("b", 30), _share("c", 80)]
    assert [*described_sets(shares, RESERVE + 100 * _MIB)] == [
        "a: 90 MiB for caches",
        "a + b: 60 MiB for caches",
        "a + c: 10 MiB for caches",
        "a + b + c: 20 MiB lacking",
    ]


def test_of_many_models_pairs_and_all_are_told() -> None:
    shares = [_share(name, 1) for name in "abcdefgh"]
    assert len([*described_sets(shares, RESERVE + 100 * _MIB)]) == 8


def test_the_command_tells_each_model_and_what_fits_together(
    tiny_path: Path, tiny_family: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", f"small={tiny_path}", "--model", f"other={tiny_family('llama')}"]
    assert main(["plan", *models, "--memory-limit", str(8 << 30)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "small:"
    assert "other:" in told
    assert sum("longest single context" in line for line in told) == 2
    assert told[-3].startswith("loaded together, of ")
    assert told[-2].startswith("  small: ")
    assert told[-1].startswith("  small + other: ")
    assert told[-1].endswith(" for caches")


def test_a_command_for_one_model_refuses_several(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["--model", f"a={tiny_path}", "--model", f"b={tiny_path}"]
    assert main(["manifest", *models]) == 2
    assert "one model is meant here" in capsys.readouterr().err
    assert main(["manifest", *models[:2]]) == 0
