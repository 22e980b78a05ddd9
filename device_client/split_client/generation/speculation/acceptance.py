"""How often guesses were right, by what they hang on."""

from __future__ import annotations

# Tokens of a class after which what was before counts for little.
_FADING = 1.0 - 1.0 / 64.0
# In place of a class: of the tokens behind a right one.
_LATER = -1


def match_class(match: int) -> int:
    """0, 1, 2 (to 3 tokens), 4 (to 7), 8 (to 15) or 16: lengths that are counted together."""
    size = 0 if match < 1 else 1
    while size and size < 16 and match >= 2 * size:
        size *= 2
    return size


class Acceptance:
    """Of the tokens of drafts by source and class of match, as one right and one wrong before any
    was seen: the first ones, and those behind a right one, which are right more often.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], tuple[float, float]] = {}

    def saw(self, source: str, match: int, right: int, *, wrong: bool) -> None:
        """``right`` tokens of a draft were chosen, and the next one was ``wrong``, or not seen."""
        size = match_class(match)
        for at in range(right + wrong):
            known = (source, size if at == 0 else _LATER)
            hits, misses = self._seen.get(known, (0.0, 0.0))
            hit = 1.0 if at < right else 0.0
            self._seen[known] = (hits * _FADING + hit, misses * _FADING + (1.0 - hit))

    def first(self, source: str, match: int) -> float:
        """The share of first tokens that are expected to be right."""
        return self._share(source, match_class(match))

    def later(self, source: str) -> float:
        """The share of further tokens, each after right ones, whatever the match was."""
        return self._share(source, _LATER)

    def _share(self, source: str, size: int) -> float:
        hits, misses = self._seen.get((source, size), (0.0, 0.0))
        return (hits + 1.0) / (hits + misses + 2.0)
