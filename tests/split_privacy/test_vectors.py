"""The vectors of noise on disk are what this code gives."""

from __future__ import annotations

from scripts.vectors.run import FOLDER, build, render


def test_the_file_is_what_the_script_writes() -> None:
    assert (FOLDER / "noise.json").read_text("ascii") == render(build("noise"))
