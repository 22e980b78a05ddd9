"""The budget is that of the process: what the store counts is what the system gave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.split_server.kv.filling_process import BUDGET

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux 4.14")
def test_private_memory_follows_the_books_up_and_down() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.split_server.kv.filling_process"],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found = json.loads(done.stdout)
    full, closed = found["full"], found["closed"]
    assert found["sessions"] > 10
    assert 0.9 * BUDGET < full["bytes"] <= BUDGET
    assert full["private"] == pytest.approx(full["bytes"], rel=0.1)
    assert closed["bytes"] == 0
    assert closed["private"] < 0.1 * BUDGET
