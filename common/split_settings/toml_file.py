"""The TOML file: where it is looked for, and reading it within bounds."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from split_settings.errors import BadValue, MalformedFile, UnknownKey, UnreadableFile

SECTIONS = ("server", "adapters", "client", "relay")
CONFIG_VARIABLE = "SPLIT_CONFIG"
_MAX_BYTES = 1 << 20


def default_config_path() -> Path:
    """``config.toml`` in the platform's configuration folder of this user."""
    return platformdirs.user_config_path("gatelink", appauthor=False) / "config.toml"


def find_config(flag: str | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read: ``--config``, else ``SPLIT_CONFIG``, else the user's own if it exists."""
    named = flag or environ.get(CONFIG_VARIABLE)
    if named:
        return _expanded(Path(named))
    usual = default_config_path()
    return usual if usual.is_file() else None


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """Return the tables of a file, one per program.

    Raises :class:`UnreadableFile`, :class:`MalformedFile`, :class:`UnknownKey` for a table that
    belongs to no program, :class:`BadValue` for a program's name that is not a table.
    """
    tables = _parse(path, _read(path))
    for name, table in tables.items():
        if name not in SECTIONS:
            raise UnknownKey(str(path), name, tuple(difflib.get_close_matches(name, SECTIONS, 1)))
        if not isinstance(table, dict):
            raise BadValue(f"{path}, {name}", f"expected a table, written [{name}]")
    return tables


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise UnreadableFile(path, "there is no such account") from error


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from error
    if len(data) > _MAX_BYTES:
        raise UnreadableFile(path, f"it is larger than {_MAX_BYTES} bytes")
    return data


def _parse(path: Path, data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError as error:  # bad UTF-8, bad TOML, or an integer of thousands of digits
        raise MalformedFile(path, str(error)) from error
    except RecursionError as error:
        raise MalformedFile(path, "arrays or tables are nested too deeply") from error
