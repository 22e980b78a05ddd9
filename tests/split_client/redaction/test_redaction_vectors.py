"""The vectors that terminal and page share are what this code gives."""

from __future__ import annotations

from scripts.vectors.run import FOLDER, build, render


def test_the_vectors_are_up_to_date() -> None:
    assert (FOLDER / "redaction.json").read_text("ascii") == render(build("redaction"))
