"""The benchmark of encrypted adapters runs, checks its answers and saves what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def _run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.bench.he.run", *options]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=120
    )


def test_every_shape_gets_rows_and_a_tiny_one_figures_and_a_picture(tmp_path: Path) -> None:
    saved, picture = tmp_path / "he.json", tmp_path / "he.svg"
    options = ["--shapes", "16x2", "5000x1", "--rounds", "2", "--peer-rounds", "1"]
    done = _run(*options, "--json", str(saved), "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    assert "| 16x2 | ckks_vector.mm |" in done.stdout
    assert done.stdout.count("not run") == 2  # neither peer has slots for 5,000 numbers
    assert "8/8" in done.stderr
    schemes = json.loads(saved.read_text())["16x2"]
    for figures in schemes.values():
        assert figures["error"] < 1e-2
        assert all(value >= 0 for value in figures["cpu_ms"]["host, all in"])
    ours = schemes["coefficient packing"]
    assert ours["sizes"]["up"] == 13_864
    assert len(ours["cpu_ms"]["encrypt"]) == 2
    assert picture.read_text().startswith("<?xml")


def test_a_shape_outside_the_range_is_refused() -> None:
    done = _run("--shapes", "9000x2")
    assert done.returncode == 2
    assert "HIDDENxRANK" in done.stderr
