"""Shapes of benchmarks: which checkpoint each of them is."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.bench import shapes
from scripts.bench.options import parser


def test_the_shape_of_the_real_model_is_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shapes, "real_model", lambda: tmp_path / "smollm2")
    assert shapes.served_checkpoint("smollm2", tmp_path) == tmp_path / "smollm2"


def test_benchmarks_of_speed_take_it_as_a_shape() -> None:
    assert parser("A benchmark.").parse_args(["--shape", "smollm2"]).shape == "smollm2"
