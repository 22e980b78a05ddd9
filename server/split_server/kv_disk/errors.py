"""What is wrong with the folder, or with a file in it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from split_server.errors import ServerError

Kind: TypeAlias = Literal["short", "damaged", "swapped"]


class DiskUnusable(ServerError):
    """The folder, the key or the salts cannot be read or written."""

    code = "kv_disk_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; repair it, or leave --kv-disk out")


class BadFile(Exception):
    """A file that claims to be ours and does not hold together."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind: Kind = kind


class ForeignFile(Exception):
    """Another version's file, or one under another key: nobody's fault, and nothing for us."""
