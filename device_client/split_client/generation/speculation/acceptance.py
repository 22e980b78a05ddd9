"""How often guesses were right, by what they hang on."""

from __future__ import annotations

# Tokens of a class after which what was before counts for little.
_FADING = 1.0 - 1.0 / 64.0


def match_class(match: int) -> int:
    """0, 1, 2 (to 3 tokens), 4 (to 7), 8 (to 15) or 16: lengths that are counted together."""
    size = 0 if match < 1 else 1
    while size and size < 16 and match >= 2 * size:
        size *= 2
    return size


class Acceptance:
    """Of the tokens of drafts by source and class of match, as one right and one wrong before any
    was seen.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], tuple[float, float]] = {}

    def saw(self, source: str, match: int, right: int, *, wrong: bool) -> None:
        """``right`` tokens of a draft were chosen, and the next one was ``wrong``, or not seen."""
        known = (source, match_class(match))
        hits, misses = self._seen.get(known, (0.0, 0.0))
        for _ in range(right):
            hits, misses = hits * _FADING + 1.0, misses * _FADING
        if wrong:
            hits, misses = hits * _FADING, misses * _FADING + 1.0
        self._seen[known] = (hits, misses)

    def of(self, source: str, match: int) -> float:
        """The share of tokens that are expected to be right, each after right ones."""
        hits, misses = self._seen.get((source, match_class(match)), (0.0, 0.0))
        return (hits + 1.0) / (hits + misses + 2.0)
