"""The house: rooms stay small enough to take in, and a name prefix becomes a room in time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PLACES = ("common", "server", "device_client", "relay", "web/src", "scripts")
_SOURCES = {".py", ".js", ".jsx", ".ts", ".mjs"}
# What every package has, and what is built.
_APART = {"__init__.py", "__main__.py"}
_BUILT = {"web_app", "node_modules", "__pycache__"}
_MOST_FILES, _MOST_OF_A_PREFIX = 20, 4


def _rooms() -> dict[Path, list[str]]:
    """Source files beside each other, by folder."""
    rooms: dict[Path, list[str]] = {}
    for place in _PLACES:
        for path in sorted((_ROOT / place).rglob("*")):
            parts = path.relative_to(_ROOT).parts
            if path.suffix in _SOURCES and path.name not in _APART and not _BUILT & {*parts}:
                rooms.setdefault(path.parent.relative_to(_ROOT), []).append(path.stem)
    return rooms


_ALL = _rooms()


@pytest.mark.parametrize("room", _ALL, ids=str)
def test_a_room_holds_few_files_and_no_family_of_a_prefix(room: Path) -> None:
    names = _ALL[room]
    assert len(names) <= _MOST_FILES
    families = Counter(name.split("_")[0] for name in names if "_" in name)
    assert all(count <= _MOST_OF_A_PREFIX for count in families.values()), families
