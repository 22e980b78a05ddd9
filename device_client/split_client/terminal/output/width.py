"""The width of a text on a terminal, in columns."""

from __future__ import annotations


def measure(text: str) -> int:
    """Columns of ``text`` without line breaks: two for wide characters (UAX 11), none for marks."""
    if text.isascii():
        return len(text)
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)
