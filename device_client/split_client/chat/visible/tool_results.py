"""The lines of tools' results that matter least to a question.

What counts is the words that a line shares with the question, whether it is one of those that give
a text its structure, and how old its result is. The head and the tail of each result always stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from split_client.chat.visible.places import Line, Part
from split_wire.hiding.spans import Spans, union, without

# Positions of each result that stay at either end.
HEAD = TAIL = 32
# Share of the rest that stays of the newest result; of the one before it half as much, and so on.
_NEWEST = 0.5
_WORD = re.compile(r"\w{3,}")
# Headings, keys, errors and paths: what says where in a text one is.
_STRUCTURE = re.compile(r"^\s*(#|\[|[-=]{3,}|[\w.\" -]{1,40}:(\s|$)|.*\b(error|exception)\b)", re.I)
_STRUCTURE_COUNTS = 0.5


def least_wanted(parts: Sequence[Part], question: str, fixed: Spans) -> Spans:
    """What is hidden of the results of tools among ``parts`` for a reply to ``question``."""
    results = [part for part in parts if part.role == "tool"]
    rarity = _rarity([line for part in results for line in part.lines])
    asked = set(_words(question))
    hidden: Spans = ()
    for age, part in enumerate(reversed(results)):
        hidden = union(hidden, _of_one(part, asked, rarity, _NEWEST / 2**age))
    return without(hidden, fixed)


def _of_one(part: Part, asked: set[str], rarity: dict[str, float], share: float) -> Spans:
    first, last = part.start + HEAD, part.end - TAIL
    middle = [line for line in part.lines if first <= line.start and line.end <= last]
    stays = share * sum(line.end - line.start for line in middle)
    hidden = list[tuple[int, int]]()
    # The best first; of equal ones the later.
    for line in sorted(middle, key=lambda line: (-_score(line, asked, rarity), -line.start)):
        stays -= line.end - line.start
        if stays < 0 and not _asked_for(line, asked):
            hidden.append((line.start, line.end))
    return union(tuple(sorted(hidden)), ())


def _score(line: Line, asked: set[str], rarity: dict[str, float]) -> float:
    shared = sum(rarity.get(word, 1.0) for word in asked & {*_words(line.text)})
    return shared + _STRUCTURE_COUNTS * bool(_STRUCTURE.match(line.text))


def _asked_for(line: Line, asked: set[str]) -> bool:
    """Whether the question names what the line is about: it has most of its words."""
    words = {*_words(line.text)}
    return bool(words) and len(words & asked) * 2 > len(words)


def _rarity(lines: Sequence[Line]) -> dict[str, float]:
    """A word of every line counts little, one of a single line 1."""
    found = Counter(word for line in lines for word in {*_words(line.text)})
    return {word: 1.0 / count for word, count in found.items()}


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]
