"""What audits of approximate replies found, and what follows: an edit's way is given up in time.

Whoever has both states compares them. Where the model's head is at hand that is the divergence of
what is predicted from them, else the difference of the states themselves.
"""

from __future__ import annotations

import logging
import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from split_server.kv.lineage import WAYS, Moved

# Kullback-Leibler in nats a token; norm of a difference of states over that of the plain one.
Measure: TypeAlias = Literal["kl", "states"]
MEASURES: tuple[Measure, ...] = ("kl", "states")
OUTCOMES = ("passed", "failed", "unfinished")
# Means over a reply (docs/kv-reuse.md has what was seen of right and of wrong ones).
BOUNDS: dict[Measure, float] = {"kl": 0.3, "states": 0.5}
# Failures after which nothing is done that way for a principal; principals with one after which
# nothing is for anybody.
MOST_FAILURES = 3
MOST_PRINCIPALS = 3
_log = logging.getLogger(__name__)


def _nobody(_: Measure, __: float) -> None:
    """Nobody has to be told what was found."""


class ApproximateAudit:
    """``share`` of the approximate replies are to be computed plainly as well; ``draw``: a random
    number in [0, 1). ``told`` hears every value that is found. From any thread.
    """

    def __init__(self, share: float, draw: Callable[[], float] = random.random) -> None:
        self._share, self._draw = share, draw
        self._lock = threading.Lock()
        self._failures: dict[Moved, Counter[str]] = {way: Counter() for way in WAYS}
        self.counts = Counter[tuple[Moved, str]]()
        self.told: Callable[[Measure, float], None] = _nobody

    def due(self) -> bool:
        """Whether the next approximate reply is to be audited."""
        return self._share > 0 and self._draw() < self._share

    def stopped(self, way: Moved, principal: str) -> bool:
        """Whether so many replies that stand on such rows were too far off, for ``principal`` or
        for several, that nothing is done that way for it until the server starts again.
        """
        failures = self._failures[way]
        return len(failures) >= MOST_PRINCIPALS or failures.get(principal, 0) >= MOST_FAILURES

    def take(
        self, principal: str, ways: Iterable[Moved], measure: Measure, value: float | None
    ) -> bool:
        """Count a reply to ``principal`` that stands on rows that came there in ``ways``; None: it
        could not be found out. Whether what it stands on may stay.
        """
        right = value is not None and value <= BOUNDS[measure]
        outcome = "unfinished" if value is None else "passed" if right else "failed"
        with self._lock:
            for way in ways:
                self.counts[way, outcome] += 1
                if outcome == "failed":
                    self._fail(principal, way, measure, value or math.inf)
            if value is not None:
                self.told(measure, value if math.isfinite(value) else math.inf)
        return outcome != "failed"

    def _fail(self, principal: str, way: Moved, measure: Measure, value: float) -> None:
        failures = self._failures[way]
        failures[principal] += 1
        _log.error(
            "a reply on rows (%s) differs by %.2g from the plain one (%s, bound %.2g)",
            way,
            value,
            measure,
            BOUNDS[measure],
        )
        if failures[principal] == MOST_FAILURES:
            _log.error("no rows are %s for %s any more, after %d", way, principal, MOST_FAILURES)
        if len(failures) >= MOST_PRINCIPALS:
            _log.error("no rows are %s for anybody any more: %d principals", way, len(failures))
