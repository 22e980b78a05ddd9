"""Ids of made-up texts, the same on every machine."""

from __future__ import annotations


class Numbers:
    """A linear congruential generator (Knuth's MMIX), of which the high bits are used."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def below(self, bound: int) -> int:
        """A whole number from 0."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % bound

    def ids(self, count: int, vocabulary: int) -> list[int]:
        """So many of them."""
        return [self.below(vocabulary) for _ in range(count)]


def prose(numbers: Numbers, count: int, vocabulary: int = 40) -> list[int]:
    """Frequent and rare ids, of which no four follow each other twice."""
    out, seen = list[int](), set[tuple[int, ...]]()
    while len(out) < count:
        token = min(numbers.below(vocabulary), numbers.below(vocabulary))
        four = (*out[-3:], token)
        if len(four) < 4 or four not in seen:
            seen.add(four)
            out.append(token)
    return out


def edited(numbers: Numbers, text: list[int], copied: int = 34) -> list[int]:
    """``text`` with a change of 3 to 8 ids after every ``copied`` ones: put in, left out, or
    others in their place.
    """
    out, at = list[int](), 0
    while at < len(text):
        out += text[at : at + copied]
        at += copied
        size, kind = 3 + numbers.below(6), numbers.below(3)
        out += [] if kind == 0 else [1000 + numbers.below(1000) for _ in range(size)]
        at += 0 if kind == 1 else size
    return out


def records(numbers: Numbers, count: int) -> list[int]:
    """A list of records: the same keys, other values."""
    out = list[int]()
    for _ in range(count):
        out += [1, 2, 3, 500 + numbers.below(90), 4, 5, 6, 600 + numbers.below(3), 7, 8]
        out += numbers.ids(1 + numbers.below(3), 400)
    return out
