"""Digests of token ids, and how they are written in the file of the vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def written(ids: Iterable[int]) -> str:
    """Ids as decimal numbers with a space between."""
    return " ".join(map(str, ids))


def digest(block: Iterable[Sequence[int]]) -> str:
    """The SHA-256 of a block's lines, each as :func:`written` and ended by a line feed."""
    text = "".join(f"{written(ids)}\n" for ids in block)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
