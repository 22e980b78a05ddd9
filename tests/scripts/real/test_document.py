"""The page: tables between markers are replaced, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.paths import ROOT
from scripts.real.document import MarkerMissing, replaced, write
from scripts.real.rows import ROWS

_BEGIN, _END = "<!-- a: written by scripts.real -->", "<!-- end of a -->"


def test_what_stands_between_the_markers_is_replaced_and_the_prose_stays() -> None:
    page = f"before\n\n{_BEGIN}\nold \\1\n{_END}\n\nafter\n"
    assert replaced(page, "a", "new \\1\n") == f"before\n\n{_BEGIN}\nnew \\1\n{_END}\n\nafter\n"


@pytest.mark.parametrize("page", ["", _BEGIN, f"{_BEGIN}{_END}" * 2])
def test_a_page_without_the_markers_or_with_two_is_refused(page: str) -> None:
    with pytest.raises(MarkerMissing, match="end of a"):
        replaced(page, "a", "new")


def test_a_missing_marker_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"{_BEGIN}{_END}")
    with pytest.raises(MarkerMissing):
        write(path, {"a": "new", "b": "new"})
    assert path.read_text() == f"{_BEGIN}{_END}"


def test_the_page_has_a_place_for_every_row() -> None:
    page = (ROOT / "docs" / "real-model.md").read_text("utf-8")
    for name in (*ROWS, "machine"):
        assert replaced(page, name, "figures") != page
