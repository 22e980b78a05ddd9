"""The page of real figures: what stands between markers is replaced, the prose stays."""

from __future__ import annotations

import re
from pathlib import Path


class MarkerMissing(Exception):
    """The page has no place for a table."""


def replaced(page: str, name: str, block: str) -> str:
    """``page`` with ``block`` between its markers of ``name``. Raises MarkerMissing."""
    begin, end = f"<!-- {name}: written by scripts.real -->", f"<!-- end of {name} -->"
    place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(place.findall(page)) != 1:
        raise MarkerMissing(f"the page needs one {begin} and, behind it, {end}")
    return place.sub(lambda _: f"{begin}\n{block.strip()}\n{end}", page)


def write(path: Path, blocks: dict[str, str]) -> None:
    """Replace the blocks by name in the file ``path``. Raises MarkerMissing, OSError."""
    page = path.read_text("utf-8")
    for name, block in blocks.items():
        page = replaced(page, name, block)
    path.write_text(page, "utf-8")
