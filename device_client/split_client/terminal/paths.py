"""Paths as a person types them: with ``~``, between quotes, begun and to be completed."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from split_client.terminal.sampling import SettingInvalid

# A folder of more entries is not looked through for a key press.
_MOST_ENTRIES = 5000


def expanded(text: str) -> Path:
    """A path as it was typed, ``~`` included. Raises SettingInvalid."""
    try:
        if b"\x00" in os.fsencode(text):
            raise SettingInvalid(f"{text[:60]!r} is no path")
        return Path(text).expanduser()
    except UnicodeEncodeError:
        raise SettingInvalid(f"{text[:60]!r} is no path") from None
    except RuntimeError:
        raise SettingInvalid(f"{text!r}: there is no such account") from None


def unquoted(text: str) -> str:
    """The text as a shell would take it that was written between quotes."""
    quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def completed(begun: str) -> list[str]:
    """Files and folders (with a slash) whose path begins with ``begun``; none where it fails."""
    head, slash, start = begun.rpartition("/")
    try:
        folder = expanded(f"{head}{slash}" or ".")
        with os.scandir(folder) as entries:
            names = [
                f"{entry.name}/" if entry.is_dir() else entry.name
                for entry in islice(entries, _MOST_ENTRIES)
                if entry.name.startswith(start) and (start or not entry.name.startswith("."))
            ]
    except (OSError, SettingInvalid):
        return []
    return sorted(f"{head}{slash}{name}" for name in names if name.isprintable())
