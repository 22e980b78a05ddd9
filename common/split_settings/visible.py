"""Text for a person's terminal or log: control characters are shown and not obeyed.

Names of tensors, files and devices come from elsewhere. An escape sequence in one could retitle,
recolour or type into the terminal of whoever reads an error (ECMA-48).
"""

from __future__ import annotations


def visible(text: str, keep: str = "") -> str:
    r"""``text`` with what does not print written out (``\x1b``), the characters ``keep`` aside."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _written(c) for c in text)


def _written(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
