"""What was typed, kept for the arrow keys of later chats: a file of its owner's, never sent."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from split_client.owner_file import data_folder, make_folder, write_whole
from split_files import read_regular, take_lock

MOST_ENTRIES = 1000
MAX_BYTES = 1 << 20
LONGEST_BYTES = 16 << 10


def default_history() -> Path:
    """``history`` in the folder for data of this user."""
    return data_folder() / "history"


class HistoryFile:
    """At most 1,000 entries and 1 MB, one JSON text a line, the oldest first; 0600.

    What begins with a space is not kept, nor what is longer than 16 kB.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_history()

    def entries(self) -> list[str]:
        """All entries; lines that are none, and a file that cannot be read, count as empty."""
        try:
            lines = read_regular(self.path, 2 * MAX_BYTES).splitlines()
        except OSError:
            return []
        kept: list[str] = []
        for line in lines:
            with suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, str) and entry:
                    kept.append(entry)
        return kept[-MOST_ENTRIES:]

    def add(self, text: str) -> None:
        """Keep ``text`` unless it is the newest entry already. Raises OSError."""
        if not text.strip() or text.startswith(" ") or len(_line(text)) > LONGEST_BYTES:
            return
        make_folder(self.path.parent)
        with take_lock(self.path.with_name(f"{self.path.name}.lock"), wait=False):
            kept = self.entries()
            if not kept or kept[-1] != text:
                write_whole(self.path, _document([*kept, text]))


def _document(entries: list[str]) -> bytes:
    """The newest of ``entries`` that the bounds leave room for."""
    lines: list[bytes] = []
    room = MAX_BYTES
    for entry in reversed(entries[-MOST_ENTRIES:]):
        line = _line(entry)
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return b"".join(reversed(lines))


def _line(text: str) -> bytes:
    # Escaped, so that what is no character (a lone surrogate) is kept as well.
    return json.dumps(text).encode("ascii") + b"\n"
