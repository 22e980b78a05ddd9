"""Texts of strangers within a prompt, of which no control token may come.

A chat template puts texts between control tokens, and the whole is encoded as one text: a result
that spells ``<|im_end|>`` would end its turn. So a mark is set into every such spelling before the
template sees it, and the text is cut there before it is encoded. What the model reads is the same
text, in ordinary tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

# A code point for private use that no text means anything by; it is removed from what is marked.
MARK: Final = "\U0010f8fd"


class Plain:
    """``spellings``: texts that become one token wherever they stand; ``has_control``: whether a
    text that is encoded by itself brings a control token all the same.
    """

    def __init__(self, spellings: Iterable[str], has_control: Callable[[str], bool]) -> None:
        longest_first = sorted(filter(None, set(spellings)), key=lambda text: (-len(text), text))
        # Looking ahead finds those as well that overlap.
        found = "|".join(map(re.escape, longest_first))
        self._begins = re.compile(f"(?={found})") if found else None
        self._has_control = has_control

    def marked(self, text: str) -> str:
        """``text`` with marks: none of its parts between them is a spelling."""
        text = text.replace(MARK, "")
        if self._begins is None:
            return text
        cuts = [found.start() + 1 for found in self._begins.finditer(text)]
        parts = [text[low:high] for low, high in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        # A normaliser may make a spelling of what is none: then every character stands alone.
        parts = [MARK.join(part) if self._has_control(part) else part for part in parts]
        return MARK.join(parts)


def without_marks(text: str) -> list[str]:
    """The parts of ``text`` between its marks."""
    return text.split(MARK)
