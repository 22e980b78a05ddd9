"""Every variable of the environment that a program reads is told in docs/configuration.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "configuration.md").read_text()
_ROOMS = ("common", "server", "device_client", "relay")
_DEPLOYED = ("deploy/Dockerfile", "deploy/compose.yaml", "scripts/setup")
# Of one setting; the page tells how their names are made.
_SETTING = re.compile(r"SPLIT_(SERVER|ADAPTERS|CLIENT|RELAY)_")
_QUOTED = re.compile(r"[\"'](SPLIT_[A-Z_]+[A-Z]|[A-Z]{2,}_?[A-Z]*)[\"']")
_OURS = re.compile(r"\b(?:SPLIT|GATELINK)_[A-Z_]+[A-Z]\b")


def _read_by_python() -> set[str]:
    """Names in quotes on lines that read the environment, and all that begin with SPLIT."""
    found: set[str] = set()
    for path in (path for room in _ROOMS for path in (_ROOT / room).rglob("*.py")):
        for line in path.read_text().splitlines():
            names = _QUOTED.findall(line)
            reads = "environ.get(" in line or "environ[" in line
            found |= {name for name in names if reads or name.startswith("SPLIT_")}
    return found


def _named_in_files() -> set[str]:
    return {name for file in _DEPLOYED for name in _OURS.findall((_ROOT / file).read_text())}


@pytest.mark.parametrize("name", sorted(_read_by_python() | _named_in_files()))
def test_a_variable_that_is_read_is_told(name: str) -> None:
    if not _SETTING.match(name):
        assert f"`{name}`" in _PAGE


def test_what_is_looked_for_is_found() -> None:
    assert {"SPLIT_CONFIG", "SPLIT_CACHE", "SPLIT_DATA", "NO_COLOR", "TERM"} <= _read_by_python()
    assert {"GATELINK_TORCH", "GATELINK_PUBLISH", "SPLIT_SERVER_TLS"} <= _named_in_files()
