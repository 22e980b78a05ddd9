"""A small siege of the engine, in a process that may die."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scripts.paths import ROOT
from tests.llama_models import library, split_folder


def test_hostile_sessions_end_no_process_and_touch_nobody_else(
    tiny_path: Path, tmp_path: Path
) -> None:
    library()
    folder = split_folder(tiny_path, tmp_path).path
    command = [sys.executable, "-m", "scripts.bench.llama.hostile", "--inside", str(folder)]
    done = subprocess.run(
        [*command, "--sequences", "400"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["computed"] > 100
    assert counts["HiddenOverflow"] > 50
    # What fails at the door leaves the map of cells as it was.
    assert "AttentionAstray" not in counts
