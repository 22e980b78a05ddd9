"""The run that ends devices and hosts by kill -9 finds what is used twice, and finds nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench.masks.kills.verdict import Verdict
from tests.exhaustive import EXHAUSTIVE

_ROOT = Path(__file__).parents[2]
_PROGRAM = (sys.executable, "-m", "scripts.bench.masks.kills.run")
_KILLS, _HOSTS = (10_000, 500) if EXHAUSTIVE else (60, 3)


def _verdict(folder: Path, device: str = "", host: str = "") -> Verdict:
    paths = folder / "device.journal", folder / "host.journal"
    for path, text in zip(paths, (device, host), strict=True):
        path.write_text(text)
    return Verdict.of(*paths)


@pytest.mark.parametrize(
    ("device", "host"),
    [
        ("use 1 r1 x1\nuse 2 r1 x2\n", ""),
        ("use 1 r1 x1\nuse 2 r2 x1\n", ""),
        ("take n 0 5\ntake n 4 5\n", ""),
        ("", "give n 0 5\ngive n 3 5\n"),
        ("", "see a 7 x1\nsee b 7 x2\n"),
        ("", "make a 7 q1\nmake a 7 q2\n"),
        ("", "spend s1 x1\nspend s1 x2\n"),
    ],
)
def test_anything_of_a_mask_that_comes_twice_is_found(
    tmp_path: Path, device: str, host: str
) -> None:
    assert len(_verdict(tmp_path, device, host).problems) == 1


def test_what_is_sent_again_is_no_second_use(tmp_path: Path) -> None:
    host = "give n 0 5\ngive n 5 5\nmake a 7 q1\nmake a 7 q1\nsee a 7 x1\nsee a 7 x1\nspend s1 x1\n"
    device = "take n 0 5\ntake n 5 5\nuse 1 r1 x1\nuse 2 r2 x2\nkilled before-fsync\n"
    verdict = _verdict(tmp_path, device, host)
    assert verdict.problems == []
    assert verdict.killed == {"device before-fsync": 1}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")
def test_no_mask_is_used_twice_whenever_devices_and_hosts_are_killed() -> None:
    done = subprocess.run(
        [*_PROGRAM, "--kills", str(_KILLS), "--hosts", str(_HOSTS), "--seed", "1"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 masks used twice" in done.stdout
    devices, hosts = map(int, re.findall(r"([\d,]+) (?:devices and|hosts)", done.stdout)[:2])
    assert devices + hosts >= _KILLS
    for what in ("device use", "host give", "host see", "host spend"):
        assert f"| {what} |" in done.stdout
