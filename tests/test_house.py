"""The house: rooms stay small enough to take in, and a name prefix becomes a room in time."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PLACES = ("common", "server", "device_client", "relay", "web/src", "scripts")
_SOURCES = {".py", ".js", ".jsx", ".ts", ".mjs"}
# What every package has, and what is built.
_APART = {"__init__.py", "__main__.py"}
_BUILT = {"web_app", "node_modules", "__pycache__"}
_MOST_FILES, _MOST_OF_A_PREFIX = 20, 4
_DEAR = {"anthropic", "langchain_core", "langchain_openai", "schemathesis", "scipy"}


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


def test_what_takes_seconds_to_import_is_imported_by_the_tests_that_run_it() -> None:
    """Every process that runs tests collects all of them."""
    early = [
        f"{path.relative_to(_ROOT)}: {name}"
        for path in sorted((_ROOT / "tests").rglob("*.py"))
        if path.parent.name != "programs"
        for name in _imported_at_once(path)
        if name.split(".")[0] in _DEAR
    ]
    assert early == []


def _imported_at_once(path: Path) -> Iterator[str]:
    """The modules that a file imports when it is imported itself."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
