"""What a model took goes back with it: memory, threads, files and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE

_ROOT = Path(__file__).parents[4]
_ROUNDS = 100 if EXHAUSTIVE else 4
_SHAPE = {"hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 4}
_HEADS = {"num_attention_heads": 8, "num_key_value_heads": 4}
_SECONDS = 60.0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_a_model_that_comes_and_goes_leaves_nothing(tiny_path: Path, tmp_path: Path) -> None:
    other = tiny_checkpoint("llama", tmp_path / "other", **_SHAPE, **_HEADS)
    weights = (other / "model.safetensors").stat().st_size
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.split_server.serving.models.loading_process",
            str(tiny_path),
            str(other),
            str(_ROUNDS),
        ],
        cwd=_ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=_ROUNDS * _SECONDS,
    )
    first, *_, last = (json.loads(line) for line in done.stdout.splitlines())
    assert last["private"] <= 1.05 * first["private"]
    assert last["private"] - first["private"] < weights / 2
    assert last["threads"] <= first["threads"]
    assert last["files"] <= first["files"]
    assert last["children"] <= first["children"]
