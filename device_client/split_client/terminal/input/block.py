"""Blocks between triple quotes: several lines that are one message, written as they are."""

from __future__ import annotations

QUOTES = '"""'


def is_open(text: str) -> bool:
    """Whether a block was begun in ``text`` and not ended yet."""
    begun = text.lstrip()
    if not begun.startswith(QUOTES):
        return False
    return not begun.removeprefix(QUOTES).rstrip().endswith(QUOTES)


def block(text: str) -> str | None:
    """The message of a block, None where ``text`` is none.

    A block that is not ended is one to its end; a line break after the first quotes or before the
    last ones does not belong to the message.
    """
    begun = text.strip()
    if not begun.startswith(QUOTES):
        return None
    inner = begun.removeprefix(QUOTES).removesuffix(QUOTES)
    return inner.removeprefix("\n").removesuffix("\n")
