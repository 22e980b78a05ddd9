"""The number of cores that a process may count on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from split_server.engine.model.cores import CpuSample, available_cores, cpu_quota, free_cores

FOUR = frozenset({0, 1, 2, 3})


def _busy(cores: float, own: float = 0.0, count: int = 4) -> Callable[[frozenset[int]], CpuSample]:
    """Samples a second apart with ``cores`` cores busy, ``own`` of them with this process."""
    samples = iter([CpuSample(10.0, 100.0, 5.0), CpuSample(11.0, 100.0 + count - cores, 5.0 + own)])
    return lambda asked: next(samples)


@pytest.mark.parametrize(
    ("busy", "own", "free"),
    [
        (0.0, 0.0, 4),
        (0.2, 0.0, 4),
        (0.3, 0.0, 3),
        (1.4, 0.0, 2),
        (4.0, 0.0, 1),
        (2.0, 2.0, 4),
        (3.0, 1.0, 2),
    ],
)
def test_cores_that_others_keep_busy_are_left_to_them(busy: float, own: float, free: int) -> None:
    pauses: list[float] = []
    assert free_cores(FOUR, lambda: None, _busy(busy, own), pauses.append) == free
    assert 0 < sum(pauses) < 1


@pytest.mark.parametrize(("quota", "free"), [(None, 4), (8.0, 4), (3.0, 3), (2.9, 2), (0.5, 1)])
def test_a_quota_limits_the_cores(quota: float | None, free: int) -> None:
    assert free_cores(FOUR, lambda: quota, _busy(0.0), lambda seconds: None) == free


def test_a_clock_that_stands_still_takes_no_core_away() -> None:
    still = CpuSample(1.0, 1.0, 1.0)
    assert free_cores(FOUR, lambda: None, lambda cores: still, lambda seconds: None) == 4


def test_the_machine_itself_answers_between_one_and_all_its_cores() -> None:
    assert 1 <= free_cores() <= len(available_cores())


def test_a_core_whose_times_are_unknown_counts_as_idle() -> None:
    assert free_cores(frozenset({100_000}), lambda: None) == 1


def _groups(root: Path, own: str, **limits: str) -> tuple[Path, Path]:
    (root / "own").write_text(own)
    for name, text in limits.items():
        path = root / "fs" / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "fs", root / "own"


def test_the_tightest_quota_of_the_groups_above_counts(tmp_path: Path) -> None:
    limits = {"a__cpuDOTmax": "150000 100000\n", "a__b__cpuDOTmax": "max 100000\n"}
    assert cpu_quota(*_groups(tmp_path, "0::/a/b\n", **limits)) == 1.5


def test_a_container_sees_its_quota_at_the_mount(tmp_path: Path) -> None:
    place = _groups(tmp_path, "0::/\n", cpuDOTmax="50000 100000\n")
    assert cpu_quota(*place) == 0.5


def test_version_1_keeps_quota_and_period_apart(tmp_path: Path) -> None:
    limits = {
        "cpu,cpuacct__x__cpuDOTcfs_quota_us": "300000\n",
        "cpu,cpuacct__x__cpuDOTcfs_period_us": "100000\n",
        "cpu,cpuacct__cpuDOTcfs_quota_us": "-1\n",
        "cpu,cpuacct__cpuDOTcfs_period_us": "100000\n",
    }
    own = "5:memory:/y\n4:cpu,cpuacct:/x\n"
    assert cpu_quota(*_groups(tmp_path, own, **limits)) == 3.0


@pytest.mark.parametrize("text", ["max 100000", "", "nonsense", "100000 0"])
def test_what_is_no_quota_limits_nothing(tmp_path: Path, text: str) -> None:
    assert cpu_quota(*_groups(tmp_path, "0::/\n", cpuDOTmax=text)) is None


def test_a_system_without_control_groups_limits_nothing(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path, tmp_path / "missing") is None
