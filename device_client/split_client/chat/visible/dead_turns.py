"""Turns that replies have not attended to for a while."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.chat.visible.places import Part
from split_wire.hiding.spans import Span, Spans, union, without

# Replies over which a turn's mean is taken, and its share of an even spread below which it is dead.
OVER, _DEAD = 3, 0.2


class TurnAttention:
    """Rolling means of the attention that each turn got, over the last ``over`` replies."""

    def __init__(self, over: int = OVER) -> None:
        self._over = over
        self._means: dict[Span, deque[float]] = {}

    def note(self, parts: Sequence[Part], row: NDArray[np.floating]) -> None:
        """A reply has attended to ``parts`` of its chat with the weights of ``row``; a turn that is
        not among them any more is forgotten.
        """
        turns = turns_of(parts)[:-1]
        weights = {turn: float(row[turn[0] : turn[1]].mean()) for turn in turns}
        even = float(row[min(len(row), turns[0][0]) :].mean()) if turns else 0.0
        self._means = {turn: self._means.get(turn, self._new()) for turn in turns}
        for turn, weight in weights.items():
            self._means[turn].append(weight / even if even else 1.0)

    def dead(self, fixed: Spans) -> Spans:
        """Turns whose mean is far below an even spread, but for ``fixed`` positions."""
        means = ((turn, told) for turn, told in self._means.items() if len(told) == self._over)
        found = tuple(turn for turn, told in means if sum(told) / self._over < _DEAD)
        return without(union(found, ()), fixed)

    def as_mapping(self) -> Mapping[Span, float]:
        """The mean of each turn so far."""
        return {turn: sum(told) / len(told) for turn, told in self._means.items()}

    def _new(self) -> deque[float]:
        return deque(maxlen=self._over)


def turns_of(parts: Sequence[Part]) -> list[Span]:
    """From each message of the user to the end of what answers it."""
    turns = list[Span]()
    for part in parts:
        if part.role == "user":
            turns.append((part.start, part.end))
        elif turns:
            turns[-1] = turns[-1][0], part.end
    return turns
