"""Whether a text has any part of a surrogate, seen by one pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from split_client.redaction.rules import rules
from split_client.redaction.squeezed import MOST_GAP

# Characters of a surrogate from which on it is looked at closely: few texts have so many of one by
# chance.
_DEPTH: Final = 5
# Branches by their first character; with None a surrogate, or its first characters, are whole.
_Tree = dict[str | None, "_Tree"]


class Glance:
    """``names``, ``texts``, ``numbers`` as they are looked for; ``words`` of dates, none if no date
    is.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        texts: Iterable[str] = (),
        numbers: Iterable[str] = (),
        words: Iterable[str] = (),
    ) -> None:
        # White space of ASCII is not folded yet.
        gap, letters = f"[{rules()['phone_gap']}\\s]{{0,{MOST_GAP}}}", rules()["letter"]
        named = _tree(name[:_DEPTH] for name in names)
        written = _tree(text.partition(" ")[0][:_DEPTH] for text in texts)
        counted = _tree(number[:_DEPTH].lower() for number in numbers)
        first, alone = f"(?<![{letters}].)", f"(?<![{letters}0-9].)"
        whole = [*_wholes(named, first), *_wholes(written, alone), *_wholes(counted, gap=gap)]
        begun = [*_begun(named, first), *_begun(written, alone), *_begun(counted, gap=gap)]
        if dated := _tree(word[:3] for word in words):
            whole += ["[0-9]", *_wholes(dated, first), *_begun(dated, first)]
        self._empty = not whole
        self._search = re.compile(f"(?:{'|'.join(whole)})()|(?:{'|'.join(begun or whole)})").search
        self._quoted = re.compile(f"'[{letters}']*\\Z").search

    def first(self, lowered: str) -> int | None:
        """Where a surrogate may have begun that is not whole yet, in small letters; the length if
        none has. None: a surrogate may be there, or a name behind a ``'``; one has to look.
        """
        match = None if self._empty else self._search(lowered)
        if "'" in lowered and self._quoted(lowered):
            return None
        if match is None:
            return len(lowered)
        return None if match.lastindex else match.start()


def _tree(keys: Iterable[str]) -> _Tree:
    tree: _Tree = {}
    for key in keys:
        at = tree
        for character in key:
            at = at.setdefault(character, {})
        at[None] = {}
    return tree


def _wholes(tree: _Tree, first: str = "", gap: str = "") -> list[str]:
    """A pattern for each first character; ``first`` holds behind it."""
    return [
        f"{re.escape(character)}{first}{_rest(below, gap)}"
        for character, below in sorted(tree.items(), key=str)
        if character is not None
    ]


def _rest(tree: _Tree, gap: str) -> str:
    # What begins with a whole one needs no look at the rest.
    if None in tree:
        return ""
    return f"{gap}(?:{'|'.join(_wholes(tree, gap=gap))})"


def _begun(tree: _Tree, first: str = "", gap: str = "") -> list[str]:
    """The same for a text that ends before they are whole."""
    return [
        f"{re.escape(character)}{first}{_ends(below, gap)}"
        for character, below in sorted(tree.items(), key=str)
        if character is not None
    ]


def _ends(tree: _Tree, gap: str) -> str:
    if None in tree:
        return f"{gap}\\Z"
    return f"{gap}(?:\\Z|{'|'.join(_begun(tree, gap=gap))})"
