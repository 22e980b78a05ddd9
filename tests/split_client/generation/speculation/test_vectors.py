"""tests/vectors/drafts.json, which the web app meets too."""

from __future__ import annotations

from scripts.vectors.run import FOLDER, build, render


def test_the_committed_vectors_are_what_this_code_gives() -> None:
    assert (FOLDER / "drafts.json").read_text("ascii") == render(build("drafts"))
