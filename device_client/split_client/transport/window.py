"""How many steps of a prefill to have under way, from what steps tell."""

from __future__ import annotations

import math

from split_wire.under_way import MOST_STEPS

_LEAST = 2
# A step that takes longer hides no round trip worth the name, and a server that holds back the next
# one meanwhile answers no ping.
_LONG = 2.0
# Steps of fewer rows say nothing about those of a long prompt.
_OF_A_PREFILL = 64


class Window:
    """Two hide the round trip behind the server's work where that is longer; more are wanted where
    a round trip is longer than what the server or the uplink takes for a step. Times in seconds.
    """

    def __init__(self) -> None:
        self._trip = math.inf
        self._step = self._served = 0.0

    @property
    def most(self) -> int:
        """Steps to have under way."""
        if self._served > _LONG:
            return 1
        if not self._step or math.isinf(self._trip):
            return _LEAST
        return max(_LEAST, min(MOST_STEPS, 1 + math.ceil(self._trip / self._step)))

    def stepped(self, rows: int, waited: float, computed: float, queued: float) -> None:
        """A step of ``rows`` that was sent while no other was under way was answered after
        ``waited``, of which the server ``computed`` and had it ``queued``.
        """
        self._served = computed + queued
        between = max(0.0, waited - computed - queued)
        self._trip = min(self._trip, between)
        if rows >= _OF_A_PREFILL:
            self._step = max(computed, between - self._trip)
