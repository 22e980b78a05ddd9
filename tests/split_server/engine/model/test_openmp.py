"""What OpenMP is told, and that it comes before torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from split_server.engine.model.openmp import prepare_openmp

FOUR = frozenset({0, 1, 2, 3})


def _prepared(quota: float | None = None, **environment: str) -> dict[str, str]:
    prepare_openmp(environment, lambda: quota, lambda: FOUR)
    return environment


def test_threads_look_for_work_shortly() -> None:
    assert _prepared() == {"GOMP_SPINCOUNT": "3000"}


@pytest.mark.parametrize(
    "own", [{"GOMP_SPINCOUNT": "5"}, {"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "passive"}]
)
def test_what_the_operator_set_stays(own: dict[str, str]) -> None:
    assert _prepared(**own) == own


def test_an_empty_variable_counts_as_absent() -> None:
    assert _prepared(OMP_WAIT_POLICY="")["GOMP_SPINCOUNT"] == "3000"


@pytest.mark.parametrize(("quota", "threads"), [(0.5, "1"), (1.0, "1"), (2.9, "2"), (3.0, "3")])
def test_a_quota_below_the_cores_limits_the_threads(quota: float, threads: str) -> None:
    assert _prepared(quota)["OMP_NUM_THREADS"] == threads


@pytest.mark.parametrize("quota", [4.0, 64.0])
def test_a_quota_that_pays_for_all_cores_sets_nothing(quota: float) -> None:
    assert "OMP_NUM_THREADS" not in _prepared(quota)


def test_an_operators_number_of_threads_stays_under_a_quota() -> None:
    assert _prepared(1.0, OMP_NUM_THREADS="3")["OMP_NUM_THREADS"] == "3"


_AT_IMPORT = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print(os.environ.get("GOMP_SPINCOUNT"), flush=True)
            # What an import of torch takes tells no more.
            os._exit(0)
sys.meta_path.insert(0, Watch())
{start}
"""
_SERVER = """
from split_server.commands import main
main(["serve", "--port", "0", "--memory-limit", "1"])
"""


@pytest.mark.parametrize("start", [_SERVER, "import split_server.local_engine"])
def test_it_is_told_before_torch_is_imported(tmp_path: Path, start: str) -> None:
    environment = {name: value for name, value in os.environ.items() if "OMP" not in name}
    done = subprocess.run(
        [sys.executable, "-c", _AT_IMPORT.format(start=start)],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "SPLIT_DATA": str(tmp_path), "SPLIT_CACHE": str(tmp_path)},
    )
    assert done.stdout.splitlines()[0] == "3000"
